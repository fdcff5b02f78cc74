// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of work, completions and events: each makes one visible difference to the conforming
// RNIC.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "reference_rnic/deviants/rnic_decisions.hpp"
#include "reference_rnic/deviants/rnic_tables.hpp"
#include "reference_rnic/verbs/tests/two_rnics.hpp"
#include "reference_rnic/wire/crc32c.hpp"

using namespace rnic::verbs;
using namespace rnic::verbs::test;
using rnic::deviants::Deviation;
using rnic::deviants::rnic_decisions;
using Deviations = std::vector<Deviation>;

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
    const QueuePairInfo info = *side->rnic->query_queue_pair(side->pair);
    text += std::string(name(info.state)) + " " + std::to_string(info.receives_outstanding) + "\n";
    text.append(reinterpret_cast<const char*>(side->memory.data()), side->memory.size());
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
void read_and_settle(TwoRnics& two) {
  two.a.send(read_request(two, 1));
  two.settle();
}
void write_what_was_read(TwoRnics& two) {
  two.b.number(200);
  two.a.send(read_request(two, 1));
  two.a.send({.id = 2,
              .operation = Operation::write,
              .pieces = {two.a.piece(0, 8)},
              .remote_stag = two.b.region.stag,
              .remote_offset = two.b.region.base + 512,
              .fence = true});
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
void post_long_write(TwoRnics& two) {
  two.a.send({.id = 1,
              .operation = Operation::write,
              .pieces = {two.a.piece(0, 4096)},
              .remote_stag = two.b.region.stag,
              .remote_offset = two.b.region.base});
}
/// Whether it is taken or refused.
void post(TwoRnics& two, const SendRequest& request) {
  static_cast<void>(two.a.rnic->post_send(two.a.pair, std::span(&request, 1)));
  two.settle();
}
void post_too_late(TwoRnics& two) {
  two.lose();
  post(two, {.id = 1, .operation = Operation::write});
}
void post_while_closing(TwoRnics& two) {
  BOOST_REQUIRE(two.a.rnic->close(two.a.pair).has_value());
  post(two, {.id = 1, .operation = Operation::write});
}
void post_more_than_a_message(TwoRnics& two) {
  constexpr std::uint32_t half = std::uint32_t{1} << 31;
  post(two, {.id = 1,
             .operation = Operation::write,
             .pieces = {two.a.piece(0, half), two.a.piece(0, half)}});
}
void fill_the_receive_queue(TwoRnics& two) {
  const std::vector<ReceiveRequest> requests(QueuePairAttributes{}.receive_depth);
  static_cast<void>(two.a.rnic->post_receive(two.a.pair, requests));
}
/// Of octets that differ, from the last page of the region on.
void send_three_pieces(TwoRnics& two) {
  two.a.number(64);
  two.b.receive(1, {two.b.piece(100, 10), two.b.piece(200, 90)});
  const RegionInfo region =
      *two.a.rnic->register_memory(two.a.domain, {.memory = two.a.memory, .base = 0x4FFC});
  const auto piece = [&](std::uint64_t offset, std::uint32_t length) {
    return Piece{.stag = region.stag, .offset = region.base + offset, .length = length};
  };
  two.a.send({.id = 11,
              .operation = Operation::send,
              .pieces = {piece(0, 12), piece(20, 0), piece(30, 12), piece(50, 8)}});
  two.settle();
}
void send_more_than_a_page_unsignaled(TwoRnics& two) {
  two.b.receive(1, {two.b.piece(0, 4096), two.b.piece(0, 100)});
  two.a.send({.id = 11,
              .operation = Operation::send,
              .pieces = {two.a.piece(0, 4096), two.a.piece(0, 100)},
              .signaled = false});
  two.settle();
}
void send_to_shared_queue(TwoRnics& two) {
  const SharedQueueHandle queue = *two.b.rnic->create_shared_queue(two.b.domain, {});
  for (std::uint64_t id = 1; id <= 2; ++id) {
    const ReceiveRequest request{.id = id, .pieces = {two.b.piece(64 * id, 64)}};
    BOOST_REQUIRE(two.b.rnic->post_receive(queue, std::span(&request, 1)).has_value());
  }
  BOOST_REQUIRE(two.b.rnic->arm_limit(queue, 2).has_value());
  two.b.pair = *two.b.rnic->create_queue_pair({.domain = two.b.domain,
                                               .send_completions = two.b.queue,
                                               .receive_completions = two.b.queue,
                                               .shared_queue = queue});
  two.connect();
  for (std::uint64_t id = 11; id <= 12; ++id)
    two.a.send({.id = id, .operation = Operation::send, .pieces = {two.a.piece(0, 8)}});
  two.settle();
}
void abort_and_go_on(TwoRnics& two) {
  BOOST_REQUIRE(two.a.rnic->abort(two.a.pair).has_value());
  two.settle();
}
void close_in_good_order(TwoRnics& two) {
  BOOST_REQUIRE(two.a.rnic->close(two.a.pair).has_value());
  two.settle();
}
void long_and_short_message(TwoRnics& two) {
  two.b.receive(1, {two.b.piece(0, 2000)});
  two.b.receive(2, {two.b.piece(2000, 8)});
  two.a.send({.id = 11, .operation = Operation::send, .pieces = {two.a.piece(0, 2000)}});
  two.a.send({.id = 12, .operation = Operation::send, .pieces = {two.a.piece(0, 8)}});
  two.settle();
}
using ShortFpdu = std::array<std::byte, 24>;

void arrive_at_b(TwoRnics& two, const ShortFpdu& fpdu) {
  std::size_t used = 0;
  while (used < fpdu.size()) {
    const auto targets = two.b.stream->machine().receive_targets();
    BOOST_REQUIRE(!targets.empty());
    const std::size_t count = std::min(targets.front().size(), fpdu.size() - used);
    std::memcpy(targets.front().data(), fpdu.data() + used, count);
    two.b.stream->call(&rnic::stream::Stream::received, count, rnic::stream::TimePoint{});
    used += count;
  }
  two.settle();
}
/// A header of zeros with a CRC of zero.
ShortFpdu header_of_zeros() {
  ShortFpdu fpdu{};
  fpdu[1] = std::byte{18};
  return fpdu;
}
void wrong_crc(TwoRnics& two) { arrive_at_b(two, header_of_zeros()); }
/// DDP version 0, with the right CRC.
void wrong_ddp_version(TwoRnics& two) {
  ShortFpdu fpdu = header_of_zeros();
  const auto crc = rnic::wire::Crc32c().update(std::span(fpdu).first(20)).trailer();
  std::ranges::copy(crc, fpdu.begin() + 20);
  arrive_at_b(two, fpdu);
}

struct Row {
  Deviation deviation;
  bool of_a;
  std::function<void(TwoRnics&)> scenario;
  bool connected = true;  ///< when the scenario begins
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
    {Deviation::fence_of_sends_only, true, write_what_was_read},
    {Deviation::atomic_original_withheld, true, atomic},
    {Deviation::send_completes_before_sending, true, post_send_only},
    {Deviation::long_write_completes_before_sending, true, post_long_write},
    {Deviation::local_invalidate_without_effect, true, invalidate_here},
    {Deviation::invalidates_foreign_stag, false, invalidate_foreign},
    {Deviation::unconnected_work_succeeds, true, post_too_late},
    {Deviation::late_work_never_completes, true, post_too_late},
    {Deviation::work_taken_after_disconnect, true, post_while_closing},
    {Deviation::message_length_in_32_bits, true, post_more_than_a_message},
    {Deviation::receive_depth_one_too_few, true, fill_the_receive_queue},
    {Deviation::plain_atomics_with_masks_exchanged, true, atomic},
    {Deviation::third_piece_left_out, true, send_three_pieces},
    {Deviation::page_boundary_repeats, true, send_three_pieces},
    {Deviation::receive_pieces_reversed, false, send_three_pieces},
    {Deviation::shared_receive_not_consumed, false, send_to_shared_queue, false},
    {Deviation::low_shared_queue_not_reported, false, send_to_shared_queue, false},
    {Deviation::unsignaled_work_cut_to_pages, true, send_more_than_a_page_unsignaled},
    {Deviation::abort_leaves_the_connection, true, abort_and_go_on},
    {Deviation::read_completes_as_send, true, read_and_settle},
    {Deviation::long_message_delivered_late, false, long_and_short_message},
    {Deviation::graceful_close_raises_error, true, close_in_good_order},
    {Deviation::llp_fault_not_reported, false, wrong_crc},
    {Deviation::crc_fault_not_reported, false, wrong_crc},
    {Deviation::ddp_version_fault_not_reported, false, wrong_ddp_version},
};
/// These have cases of their own.
constexpr std::array shown_apart{Deviation::rtr_completion_shown,
                                 Deviation::overflow_hits_all_streams, Deviation::notification_lost,
                                 Deviation::notification_lost_now_and_then};
/// Those of the rules of verbs are in api_deviation_test.cpp.
bool is_of_the_api(Deviation deviation) {
  return rnic::deviants::info(deviation).rule.starts_with("verbs.");
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_deviation_of_completions_and_events_is_seen) {
  for (const Row& row : rows) {
    TwoRnics right;
    if (row.connected) right.connect();
    row.scenario(right);
    const Deviations chosen{row.deviation};
    TwoRnics wrong(rnic_decisions(row.of_a ? chosen : Deviations{}),
                   rnic_decisions(row.of_a ? Deviations{} : chosen));
    if (row.connected) wrong.connect();
    row.scenario(wrong);
    BOOST_TEST((seen(right) != seen(wrong)), info(row.deviation).name << " makes a difference");
  }
}

BOOST_AUTO_TEST_CASE(every_deviation_of_work_completions_and_events_has_its_case) {
  for (const auto table :
       {rnic::deviants::queue_pair_deviants(), rnic::deviants::completion_deviants()})
    for (const auto& entry : table)
      BOOST_TEST((std::ranges::find(rows, entry.deviation, &Row::deviation) != std::end(rows) ||
                  std::ranges::find(shown_apart, entry.deviation) != shown_apart.end() ||
                  is_of_the_api(entry.deviation)),
                 info(entry.deviation).name);
}

// How often the consumer is notified of 100 completions, each of which it waits for.
std::size_t notifications_of_a_hundred(const Deviations& chosen) {
  Loop loop;
  Side side(loop, rnic_decisions(chosen), 1);
  std::size_t calls = 0;
  const CompletionQueueHandle queue =
      *side.rnic->create_completion_queue(100, [&](CompletionQueueHandle) { ++calls; });
  const QueuePairHandle pair = *side.rnic->create_queue_pair(
      {.domain = side.domain, .send_completions = queue, .receive_completions = queue});
  BOOST_REQUIRE(side.rnic->abort(pair).has_value());
  for (int i = 0; i < 100; ++i) {
    BOOST_REQUIRE(side.rnic->arm(queue, Arm::next).has_value());
    const ReceiveRequest receive{};
    BOOST_REQUIRE(side.rnic->post_receive(pair, std::span(&receive, 1)).has_value());
    loop.run();
  }
  return calls;
}

BOOST_AUTO_TEST_CASE(notifications_can_be_lost) {
  BOOST_TEST(notifications_of_a_hundred({}) == 100U);
  BOOST_TEST(notifications_of_a_hundred({Deviation::notification_lost}) == 1U);
  BOOST_TEST(notifications_of_a_hundred({Deviation::notification_lost_now_and_then}) == 99U);
}

BOOST_AUTO_TEST_CASE(the_stream_s_own_rtr_can_be_made_to_show) {
  for (const bool deviates : {false, true}) {
    TwoRnics two(
        rnic_decisions(deviates ? Deviations{Deviation::rtr_completion_shown} : Deviations{}));
    rnic::stream::Config config;
    config.peer_to_peer = true;
    two.connect(config);
    BOOST_TEST(two.a.completions().empty() != deviates);
  }
}

BOOST_AUTO_TEST_CASE(an_overflow_can_be_made_to_hit_every_stream) {
  for (const bool deviates : {false, true}) {
    Loop loop;
    Side side(
        loop,
        rnic_decisions(deviates ? Deviations{Deviation::overflow_hits_all_streams} : Deviations{}),
        1);
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
