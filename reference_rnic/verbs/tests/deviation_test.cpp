// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of completions and events: each makes one visible difference to the conforming RNIC.
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>

#include "reference_rnic/verbs/tests/two_rnics.hpp"

using namespace rnic::verbs;
using namespace rnic::verbs::test;
using rnic::deviants::Deviation;

namespace {

/// Everything that the consumers of both sides see, as text.
std::string seen(TwoRnics& two) {
  std::string text;
  for (Side* side : {&two.a, &two.b}) {
    for (const Completion& completion : side->completions()) {
      text += std::to_string(completion.id) + " " + name(completion.operation) + " " +
              name(completion.status) + " " + std::to_string(completion.length);
      if (completion.invalidated) text += " invalidated";
      if (completion.immediate) text += " immediate";
      if (completion.solicited) text += " solicited";
      text += "\n";
    }
    for (const AsyncEvent& event : side->async) text += std::string(name(event.kind)) + "\n";
    text += std::string(name(side->state())) + "\n";
    std::uint64_t first = 0;
    std::memcpy(&first, side->memory.data(), sizeof first);
    text += std::to_string(first) + "\n";
  }
  return text;
}

void send_three(TwoRnics& two) {
  for (std::uint64_t id = 1; id <= 3; ++id) two.b.receive(id, {two.b.piece(64 * id, 64)});
  two.a.send({.id = 11, .operation = Operation::send, .pieces = {two.a.piece(0, 10)}});
  two.a.send({.id = 12,
              .operation = Operation::send_solicited_invalidate,
              .invalidate_stag = two.b.expose(0, 8, all_access).stag});
  two.a.send({.id = 13, .operation = Operation::immediate});
  two.settle();
}
SendRequest read_request(const TwoRnics& two, std::uint64_t id) {
  return {.id = id,
          .operation = Operation::read,
          .pieces = {two.a.piece(0, 8)},
          .remote_stag = two.b.region.stag,
          .remote_offset = two.b.region.base + 128};
}
void read_and_write_then_lose(TwoRnics& two) {
  two.a.receive(5, {two.a.piece(512, 8)});
  two.a.send(read_request(two, 1));
  two.a.send({.id = 2, .operation = Operation::write, .fence = true});
  two.lose();
}
void bad_read(TwoRnics& two) {
  SendRequest request = read_request(two, 1);
  request.remote_stag = 0xBAD;
  request.signaled = false;
  two.a.send(request);
  two.settle();
}
void signaled_bad_read(TwoRnics& two) {
  SendRequest request = read_request(two, 1);
  request.remote_stag = 0xBAD;
  two.a.send(request);
  two.settle();
}
void atomic(TwoRnics& two) {
  two.b.memory[256] = std::byte{9};
  two.a.send({.id = 1,
              .operation = Operation::fetch_add,
              .pieces = {two.a.piece(0, 8)},
              .remote_stag = two.b.region.stag,
              .remote_offset = two.b.region.base + 256,
              .add_or_swap = 1});
  two.settle();
}
void invalidate_here(TwoRnics& two) {
  const RegionInfo mine = two.a.expose(0, 64, all_access);
  two.a.send({.id = 1, .operation = Operation::local_invalidate, .invalidate_stag = mine.stag});
  two.a.send({.id = 2,
              .operation = Operation::write,
              .pieces = {{.stag = mine.stag, .offset = mine.base, .length = 8}},
              .remote_stag = two.b.region.stag,
              .remote_offset = two.b.region.base});
  two.settle();
}
void invalidate_foreign(TwoRnics& two) {
  two.b.receive(1, {two.b.piece(64, 64)});
  const auto foreign = two.b.rnic->register_memory(*two.b.rnic->create_domain(),
                                                   {.memory = two.b.memory, .access = all_access});
  two.a.send({.id = 11, .operation = Operation::send_invalidate, .invalidate_stag = foreign->stag});
  two.settle();
}
void only_a_lossy_end(TwoRnics& two) { two.lose(); }
void post_send_only(TwoRnics& two) { two.a.send({.id = 1, .operation = Operation::send}); }

struct Row {
  Deviation deviation;
  bool of_a;
  std::function<void(TwoRnics&)> scenario;
};
const Row rows[] = {
    {Deviation::receive_length_wrong, false, send_three},
    {Deviation::solicited_event_lost, false, send_three},
    {Deviation::receives_complete_out_of_order, false, send_three},
    {Deviation::receive_completes_before_placement, false, send_three},
    {Deviation::immediate_data_withheld, false, send_three},
    {Deviation::immediate_without_completion, false, send_three},
    {Deviation::receive_flush_lost, true, read_and_write_then_lose},
    {Deviation::work_not_flushed, true, read_and_write_then_lose},
    {Deviation::message_delivered_twice, false, send_three},
    {Deviation::flush_reported_as_success, true, read_and_write_then_lose},
    {Deviation::unsignaled_failure_silent, true, bad_read},
    {Deviation::read_failure_reported_as_success, true, signaled_bad_read},
    {Deviation::terminate_not_reported, true, bad_read},
    {Deviation::stream_fault_not_reported, false, bad_read},
    {Deviation::read_refusal_not_reported, false, bad_read},
    {Deviation::llp_loss_not_reported, true, only_a_lossy_end},
    {Deviation::atomic_original_withheld, true, atomic},
    {Deviation::send_completes_before_sending, true, post_send_only},
    {Deviation::local_invalidate_without_effect, true, invalidate_here},
    {Deviation::invalidates_foreign_stag, false, invalidate_foreign},
};

}  // namespace

BOOST_AUTO_TEST_CASE(each_deviation_of_completions_and_events_is_seen) {
  for (const Row& row : rows) {
    TwoRnics right;
    right.connect();
    row.scenario(right);
    const Deviations chosen{row.deviation};
    TwoRnics wrong(row.of_a ? chosen : Deviations{}, row.of_a ? Deviations{} : chosen);
    wrong.connect();
    row.scenario(wrong);
    BOOST_TEST(seen(right) != seen(wrong), info(row.deviation).name << " makes a difference");
  }
}

BOOST_AUTO_TEST_CASE(the_stream_s_own_rtr_can_be_made_to_show) {
  for (const bool deviates : {false, true}) {
    TwoRnics two(deviates ? Deviations{Deviation::rtr_completion_shown} : Deviations{});
    rnic::stream::Config config;
    config.peer_to_peer = true;
    two.connect(config);
    BOOST_TEST(two.a.completions().empty() != deviates);
  }
}

BOOST_AUTO_TEST_CASE(an_overflow_can_be_made_to_hit_every_stream) {
  for (const bool deviates : {false, true}) {
    Loop loop;
    Side side(loop, deviates ? Deviations{Deviation::overflow_hits_all_streams} : Deviations{}, 1);
    const CompletionQueueHandle small = *side.rnic->create_completion_queue(1, {});
    const QueuePairHandle victim = *side.rnic->create_queue_pair(
        {.domain = side.domain, .send_completions = small, .receive_completions = small});
    const std::vector<ReceiveRequest> two_receives(2);
    BOOST_REQUIRE(side.rnic->post_receive(victim, two_receives).has_value());
    BOOST_REQUIRE(side.rnic->abort(victim).has_value());
    loop.run();
    BOOST_TEST((side.state() == QueuePairState::error) == deviates);
  }
}
