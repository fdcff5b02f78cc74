// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Tagged access from one RNIC to the memory of another: what is granted happens, what is not leaves
// memory as it was.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "reference_rnic/verbs/tests/two_rnics.hpp"

using namespace rnic::verbs;
using namespace rnic::verbs::test;
namespace cause = rnic::wire::cause;

namespace {
struct MemoryFixture : TwoRnics {
  MemoryFixture() { connect(); }
  /// b ended the stream with this cause, a saw the Terminate.
  void check_refused(rnic::wire::TerminateCause expected) {
    BOOST_REQUIRE(a.saw(AsyncKind::terminate_received));
    const auto event = std::ranges::find(a.async, AsyncKind::terminate_received, &AsyncEvent::kind);
    BOOST_TEST((event->cause == expected), event->detail);
    BOOST_TEST((a.state() == QueuePairState::error));
    BOOST_TEST((b.state() == QueuePairState::error));
  }
};
SendRequest request(Operation operation, Pieces pieces, const RegionInfo& remote,
                    std::uint64_t offset = 0) {
  return {.id = 7,
          .operation = operation,
          .pieces = std::move(pieces),
          .remote_stag = remote.stag,
          .remote_offset = remote.base + offset};
}
}  // namespace

BOOST_FIXTURE_TEST_SUITE(memory, MemoryFixture)

BOOST_AUTO_TEST_CASE(a_write_lands_where_it_is_aimed) {
  a.number(100);
  a.send(request(Operation::write, {a.piece(0, 60), a.piece(60, 40)}, b.region, 1000));
  settle();
  BOOST_TEST(std::equal(a.memory.begin(), a.memory.begin() + 100, b.memory.begin() + 1000));
  BOOST_TEST((b.memory[999] == std::byte{0} && b.memory[1100] == std::byte{0}));
  const auto completions = a.completions();
  BOOST_REQUIRE(completions.size() == 1U);
  BOOST_TEST(
      (completions[0].operation == Operation::write && completions[0].status == Status::success));
  BOOST_TEST(completions[0].length == 100U);
  BOOST_TEST(b.completions().empty());
}

BOOST_AUTO_TEST_CASE(a_read_brings_what_is_there) {
  b.number(4096);
  a.send(request(Operation::read, {a.piece(0, 4096)}, b.region));
  settle();
  BOOST_TEST((a.memory == b.memory));
  const auto completions = a.completions();
  BOOST_REQUIRE(completions.size() == 1U);
  BOOST_TEST((completions[0].status == Status::success));
  BOOST_TEST(completions[0].length == 4096U);
}

BOOST_AUTO_TEST_CASE(a_write_without_the_right_is_refused) {
  const RegionInfo target = b.expose(0, 64, {.local_write = true, .remote_read = true});
  a.number(8);
  a.send(request(Operation::write, {a.piece(0, 8)}, target));
  settle();
  check_refused(cause::ddp_tagged_invalid_stag);
  BOOST_TEST((b.memory[0] == std::byte{0}));
  BOOST_TEST(b.saw(AsyncKind::queue_pair_access_error));
}

BOOST_AUTO_TEST_CASE(a_read_without_the_right_is_refused) {
  const RegionInfo source = b.expose(0, 64, {.local_write = true, .remote_write = true});
  a.send(request(Operation::read, {a.piece(0, 8)}, source));
  settle();
  check_refused(cause::rdmap_access_rights);
  const auto completions = a.completions();
  BOOST_REQUIRE(completions.size() == 1U);
  BOOST_TEST((completions[0].status == Status::remote_access));
}

BOOST_AUTO_TEST_CASE(an_atomic_without_the_right_is_refused) {
  const RegionInfo target =
      b.expose(0, 64, {.local_write = true, .remote_read = true, .remote_write = true});
  SendRequest atomic = request(Operation::fetch_add, {a.piece(0, 8)}, target);
  atomic.add_or_swap = 1;
  a.send(atomic);
  settle();
  check_refused(cause::rdmap_access_rights);
  BOOST_TEST((b.memory[0] == std::byte{0}));
}

BOOST_AUTO_TEST_CASE(an_atomic_changes_there_and_brings_the_original_here) {
  const std::uint64_t before = 41;
  std::memcpy(b.memory.data() + 16, &before, 8);
  SendRequest atomic = request(Operation::fetch_add, {a.piece(8, 8)}, b.region, 16);
  atomic.add_or_swap = 3;  // carries
  a.send(atomic);
  settle();
  std::uint64_t original = 0, after = 0;
  std::memcpy(&original, a.memory.data() + 8, 8);
  std::memcpy(&after, b.memory.data() + 16, 8);
  BOOST_TEST(original == 41U);
  BOOST_TEST(after == 44U);
}

BOOST_AUTO_TEST_CASE(the_sink_of_a_read_needs_remote_write) {
  const RegionInfo sink = a.expose(0, 64, {.local_write = true, .remote_read = true});
  b.number(8);
  a.send(
      request(Operation::read, {{.stag = sink.stag, .offset = sink.base, .length = 8}}, b.region));
  settle();
  const auto completions = a.completions();
  BOOST_REQUIRE(completions.size() == 1U);
  BOOST_TEST((completions[0].status == Status::local_protection));
  BOOST_TEST((a.memory[0] == std::byte{0}));
}

BOOST_AUTO_TEST_CASE(the_sink_of_an_atomic_is_written_by_its_owner) {
  const RegionInfo sink = a.expose(0, 64, {.remote_read = true, .remote_write = true});
  a.send(request(Operation::fetch_add, {{.stag = sink.stag, .offset = sink.base, .length = 8}},
                 b.region));
  settle();
  const auto completions = a.completions();
  BOOST_REQUIRE(completions.size() == 1U);
  BOOST_TEST((completions[0].status == Status::local_protection));
}

BOOST_AUTO_TEST_CASE(a_region_of_another_domain_is_out_of_reach) {
  const DomainHandle other = *b.rnic->create_domain();
  const auto foreign =
      *b.rnic->register_memory(other, {.memory = b.memory, .access = all_access, .base = 0});
  a.send(request(Operation::write, {a.piece(0, 8)}, foreign));
  settle();
  check_refused(cause::ddp_tagged_stag_not_associated);
}

BOOST_AUTO_TEST_CASE(one_octet_behind_the_region_is_out_of_bounds) {
  b.memory[64] = std::byte{0x55};
  const RegionInfo target = b.expose(0, 64, all_access);
  a.number(8);
  a.send(request(Operation::write, {a.piece(0, 8)}, target, 57));
  settle();
  check_refused(cause::ddp_tagged_base_or_bounds);
  BOOST_TEST((b.memory[64] == std::byte{0x55} && b.memory[57] == std::byte{0}));
}

BOOST_AUTO_TEST_CASE(an_empty_region_has_an_stag_and_no_memory) {
  const RegionInfo empty =
      *b.rnic->register_memory(b.domain, {.memory = {}, .access = all_access, .base = 0});
  BOOST_TEST(empty.stag != 0U);
  a.send(request(Operation::read, {a.piece(0, 1)}, empty));
  settle();
  check_refused(cause::rdmap_base_or_bounds);
}

BOOST_AUTO_TEST_CASE(zero_length_accesses_need_no_valid_stag) {
  a.send({.id = 1, .operation = Operation::write, .remote_stag = 0xDEAD});
  a.send({.id = 2, .operation = Operation::read, .remote_stag = 0xDEAD});
  a.send({.id = 3,
          .operation = Operation::read,
          .pieces = {{.stag = 0xBAD, .offset = 0, .length = 0}},
          .remote_stag = 0xDEAD});
  settle();
  const auto completions = a.completions();
  BOOST_REQUIRE(completions.size() == 3U);
  for (const Completion& completion : completions)
    BOOST_TEST((completion.status == Status::success));
  BOOST_TEST((a.state() == QueuePairState::rts));
}

BOOST_AUTO_TEST_CASE(deregistered_memory_is_out_of_reach) {
  const RegionInfo target = b.expose(0, 64, all_access);
  BOOST_TEST(b.rnic->deregister(target.region).has_value());
  a.number(8);
  a.send(request(Operation::write, {a.piece(0, 8)}, target));
  settle();
  check_refused(cause::ddp_tagged_invalid_stag);
  BOOST_TEST((b.memory[0] == std::byte{0}));
}

BOOST_AUTO_TEST_CASE(the_owner_s_invalidation_ends_access_in_its_turn) {
  // The responder may post once it has heard the initiator.
  a.send({.id = 1, .operation = Operation::write});
  settle();
  b.send({.id = 2, .operation = Operation::local_invalidate, .invalidate_stag = b.region.stag});
  settle();
  BOOST_TEST(!b.rnic->query_region(b.region.region)->valid);
  a.send(request(Operation::read, {a.piece(0, 8)}, b.region));
  settle();
  check_refused(cause::rdmap_invalid_stag);
}

BOOST_AUTO_TEST_CASE(work_behind_a_local_invalidate_sees_the_stag_invalid) {
  const RegionInfo mine = a.expose(0, 64, all_access);
  const std::vector<SendRequest> requests{
      {.id = 1,
       .operation = Operation::write,
       .pieces = {{.stag = mine.stag, .offset = mine.base, .length = 8}},
       .remote_stag = b.region.stag,
       .remote_offset = b.region.base},
      {.id = 2, .operation = Operation::local_invalidate, .invalidate_stag = mine.stag},
      {.id = 3,
       .operation = Operation::write,
       .pieces = {{.stag = mine.stag, .offset = mine.base, .length = 8}},
       .remote_stag = b.region.stag,
       .remote_offset = b.region.base + 8}};
  a.number(8);
  BOOST_TEST(a.rnic->post_send(a.pair, requests).has_value());
  settle();
  const auto completions = a.completions();
  BOOST_REQUIRE(completions.size() == 3U);
  BOOST_TEST((completions[0].status == Status::success));
  BOOST_TEST((completions[1].status == Status::success));
  BOOST_TEST((completions[2].status == Status::local_protection));
  BOOST_TEST((b.memory[0] == std::byte{1} && b.memory[8] == std::byte{0}));
  BOOST_TEST((a.state() == QueuePairState::error));
}

BOOST_AUTO_TEST_CASE(work_waits_for_a_fenced_local_invalidate_whatever_else_is_done_meanwhile) {
  const RegionInfo mine = a.expose(0, 64, all_access);
  const Piece piece{.stag = mine.stag, .offset = mine.base, .length = 8};
  a.number(8);
  // The Write completes before the Read, which the invalidation waits for.
  a.send(request(Operation::write, {piece}, b.region));
  a.send(request(Operation::read, {a.piece(100, 8)}, b.region));
  a.send({.id = 8,
          .operation = Operation::local_invalidate,
          .invalidate_stag = mine.stag,
          .fence = true});
  a.send(request(Operation::write, {piece}, b.region, 8));
  settle();
  const auto completions = a.completions();
  BOOST_REQUIRE(completions.size() == 4U);
  BOOST_TEST((completions[2].status == Status::success));
  BOOST_TEST((completions[3].status == Status::local_protection));
  BOOST_TEST((b.memory[0] == std::byte{1} && b.memory[8] == std::byte{0}));
}

BOOST_AUTO_TEST_CASE(an_stag_of_another_domain_is_not_invalidated_for_this_one) {
  const DomainHandle other = *a.rnic->create_domain();
  const auto foreign =
      *a.rnic->register_memory(other, {.memory = a.memory, .access = all_access, .base = 0});
  a.send({.id = 1, .operation = Operation::local_invalidate, .invalidate_stag = foreign.stag});
  settle();
  const auto completions = a.completions();
  BOOST_REQUIRE(completions.size() == 1U);
  BOOST_TEST((completions[0].status == Status::invalidation));
  BOOST_TEST(a.rnic->query_region(foreign.region)->valid);
}

BOOST_AUTO_TEST_CASE(an_stag_that_is_not_there_cannot_be_invalidated) {
  a.send({.id = 1, .operation = Operation::local_invalidate, .invalidate_stag = 0x12345678});
  settle();
  const auto completions = a.completions();
  BOOST_REQUIRE(completions.size() == 1U);
  BOOST_TEST((completions[0].status == Status::invalidation));
}

BOOST_AUTO_TEST_CASE(the_peer_invalidates_what_is_its_own_to_use) {
  b.receive(5, {b.piece(100, 64)});
  a.send({.id = 1, .operation = Operation::send_invalidate, .invalidate_stag = b.region.stag});
  settle();
  // The buffer's own region is invalid for the next access, not for the receive that was taken
  // before.
  const auto completions = b.completions();
  BOOST_REQUIRE(completions.size() == 1U);
  BOOST_REQUIRE(completions[0].invalidated.has_value());
  BOOST_TEST(*completions[0].invalidated == b.region.stag);
  a.send(request(Operation::write, {a.piece(0, 8)}, b.region));
  settle();
  check_refused(cause::ddp_tagged_invalid_stag);
}

BOOST_AUTO_TEST_CASE(read_with_invalidate_takes_the_sink_s_stag_away_from_everybody) {
  const RegionInfo sink = a.expose(0, 64, all_access);
  b.number(8);
  a.send(request(Operation::read_invalidate,
                 {{.stag = sink.stag, .offset = sink.base, .length = 8}}, b.region));
  settle();
  const auto completions = a.completions();
  BOOST_REQUIRE(completions.size() == 1U);
  BOOST_TEST((completions[0].status == Status::success &&
              completions[0].operation == Operation::read_invalidate));
  BOOST_TEST((a.memory[7] == std::byte{8}));
  BOOST_TEST(!a.rnic->query_region(sink.region)->valid);
}

BOOST_AUTO_TEST_SUITE_END()

namespace {
/// Side b has a second stream in its domain.
struct Sharing : MemoryFixture {
  QueuePairHandle second = *b.rnic->create_queue_pair(
      {.domain = b.domain, .send_completions = b.queue, .receive_completions = b.queue});
  std::unique_ptr<RdmaStream> stream = b.rnic->streams()->open_stream({});

  Sharing() {
    BOOST_REQUIRE(b.rnic->streams()->attach(second, *stream).has_value());
    b.receive(5, {b.piece(0, 64)});
  }
  /// Whether a's Send with Invalidate takes b's region away.
  bool invalidates() {
    a.send({.id = 1, .operation = Operation::send_invalidate, .invalidate_stag = b.region.stag});
    settle();
    return !b.rnic->query_region(b.region.region)->valid;
  }
};
}  // namespace

BOOST_FIXTURE_TEST_SUITE(shared_stags, Sharing)

BOOST_AUTO_TEST_CASE(an_stag_that_two_streams_share_is_not_invalidated_by_one_of_their_peers) {
  BOOST_TEST(!invalidates());
  BOOST_TEST(a.saw(AsyncKind::terminate_received));
}

BOOST_AUTO_TEST_CASE(a_stream_that_has_ended_shares_no_more) {
  stream->call(&rnic::stream::Stream::lost, rnic::stream::TimePoint{});
  BOOST_TEST(invalidates());
}

BOOST_AUTO_TEST_CASE(a_queue_pair_that_is_destroyed_shares_no_more) {
  BOOST_TEST(b.rnic->destroy_queue_pair(second).has_value());
  BOOST_TEST(invalidates());
}

BOOST_AUTO_TEST_SUITE_END()
