// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Work and its completions: order, signaling, flush, overflow, the end of the stream.
#include <boost/test/unit_test.hpp>

#include "reference_rnic/verbs/tests/two_rnics.hpp"
#include "reference_rnic/verbs/work_rules.hpp"

using namespace rnic::verbs;
using namespace rnic::verbs::test;

namespace {

/// By `a`, of the first eight octets of the region of `b`, to the start of its own.
SendRequest read_across(const TwoRnics& two, std::uint64_t id) {
  return {.id = id,
          .operation = Operation::read,
          .pieces = {two.a.piece(0, 8)},
          .remote_stag = two.b.region.stag,
          .remote_offset = two.b.region.base};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(work)

BOOST_AUTO_TEST_CASE(completions_come_in_the_order_of_posting_though_a_read_takes_longer) {
  TwoRnics two;
  two.connect();
  two.a.send(read_across(two, 1));
  two.a.send({.id = 2, .operation = Operation::write});
  two.a.send({.id = 3, .operation = Operation::write});
  two.settle();
  const auto completions = two.a.completions();
  BOOST_REQUIRE(completions.size() == 3U);
  for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(completions[i].id == i + 1);
}

BOOST_AUTO_TEST_CASE(local_work_posted_behind_a_receive_that_was_taken_meanwhile_is_carried_out) {
  TwoRnics two;
  two.connect();
  two.a.send({.id = 1, .operation = Operation::write});
  two.settle();
  static_cast<void>(two.a.completions());
  two.a.receive(10, {two.a.piece(100, 8)});
  two.b.send({.id = 11, .operation = Operation::send, .pieces = {two.b.piece(0, 8)}});
  // Outstanding, since nothing has left a yet, when the message of b comes and takes its receive.
  two.a.send(read_across(two, 2));
  two.deliver_to(two.a);
  const RegionInfo region = two.a.expose(0, 64, all_access);
  two.a.send({.id = 3, .operation = Operation::local_invalidate, .invalidate_stag = region.stag});
  two.settle();
  BOOST_TEST(!two.a.rnic->query_region(region.region)->valid);
  const auto completions = two.a.completions();
  BOOST_REQUIRE(completions.size() == 3U);
  BOOST_TEST(completions[0].id == 10U);
  BOOST_TEST((completions[1].id == 2U && completions[1].status == Status::success));
  BOOST_TEST(completions[2].id == 3U);
  BOOST_TEST((completions[2].status == Status::success));
  BOOST_TEST(two.a.rnic->query_queue_pair(two.a.pair)->sends_outstanding == 0U);
}

// The peer may well wait for the Send before it lets the Response go.
BOOST_AUTO_TEST_CASE(work_after_unfenced_local_work_does_not_wait_for_a_read_ahead_of_it) {
  for (const Operation operation : {Operation::local_invalidate, Operation::bind_window}) {
    TwoRnics two;
    two.connect();
    const RegionInfo region = two.a.expose(0, 64, all_access);
    const WindowInfo window = *two.a.rnic->allocate_window(two.a.domain, WindowScope::queue_pair);
    two.b.receive(20, {two.b.piece(512, 8)});
    two.a.send(read_across(two, 1));
    two.a.send({.id = 2,
                .operation = operation,
                .invalidate_stag = region.stag,
                .bind = {.window = window.window,
                         .region = region.region,
                         .offset = region.base,
                         .length = 8,
                         .access = {.remote_write = true}}});
    two.a.send({.id = 3, .operation = Operation::send, .pieces = {two.a.piece(0, 8)}});
    while (two.deliver_to(two.b)) {
    }
    const auto received = two.b.completions();
    BOOST_TEST(received.size() == 1U, name(operation) << ": the Send is delivered");
    BOOST_TEST(two.a.completions().empty());
    two.settle();
    const auto completions = two.a.completions();
    BOOST_REQUIRE(completions.size() == 3U);
    for (std::size_t i = 0; i < 3; ++i)
      BOOST_TEST((completions[i].id == i + 1 && completions[i].status == Status::success));
  }
}

BOOST_AUTO_TEST_CASE(work_after_fenced_local_work_waits_for_the_read_ahead_of_it) {
  TwoRnics two;
  two.connect();
  const RegionInfo region = two.a.expose(0, 64, all_access);
  two.b.receive(20, {two.b.piece(512, 8)});
  two.a.send(read_across(two, 1));
  two.a.send({.id = 2,
              .operation = Operation::local_invalidate,
              .invalidate_stag = region.stag,
              .fence = true});
  two.a.send({.id = 3, .operation = Operation::send, .pieces = {two.a.piece(0, 8)}});
  while (two.deliver_to(two.b)) {
  }
  BOOST_TEST(two.b.completions().empty());
  BOOST_TEST(two.a.rnic->query_region(region.region)->valid);
  two.settle();
  BOOST_TEST(two.b.completions().size() == 1U);
  BOOST_TEST(two.a.completions().size() == 3U);
}

BOOST_AUTO_TEST_CASE(unsignaled_work_completes_only_if_it_fails) {
  TwoRnics two;
  two.connect();
  two.a.send({.id = 1, .operation = Operation::write, .signaled = false});
  two.settle();
  BOOST_TEST(two.a.completions().empty());
  BOOST_TEST(two.a.rnic->query_queue_pair(two.a.pair)->sends_outstanding == 0U);
  two.a.send({.id = 2,
              .operation = Operation::read,
              .pieces = {two.a.piece(0, 8)},
              .remote_stag = 0xBAD,
              .signaled = false});
  two.settle();
  const auto completions = two.a.completions();
  BOOST_REQUIRE(completions.size() == 1U);
  BOOST_TEST(completions[0].id == 2U);
  BOOST_TEST((completions[0].status == Status::remote_access));
}

BOOST_AUTO_TEST_CASE(a_queue_pair_that_signals_all_completes_unsignaled_work_too) {
  TwoRnics two;
  two.a.pair = *two.a.rnic->create_queue_pair({.domain = two.a.domain,
                                               .send_completions = two.a.queue,
                                               .receive_completions = two.a.queue,
                                               .signal_all = true});
  two.connect();
  two.a.send({.id = 1, .operation = Operation::write, .signaled = false});
  two.settle();
  BOOST_TEST(two.a.completions().size() == 1U);
}

BOOST_AUTO_TEST_CASE(behind_a_failure_nothing_counts_as_done) {
  TwoRnics two;
  two.connect();
  two.b.receive(5, {two.b.piece(0, 8)});
  two.a.send(
      {.id = 1, .operation = Operation::read, .pieces = {two.a.piece(0, 8)}, .remote_stag = 0xBAD});
  two.a.send({.id = 2, .operation = Operation::send, .pieces = {two.a.piece(0, 8)}});
  two.settle();
  const auto completions = two.a.completions();
  BOOST_REQUIRE(completions.size() == 2U);
  BOOST_TEST((completions[0].status == Status::remote_access));
  BOOST_TEST((completions[1].status == Status::flushed));
  BOOST_TEST(completions[0].length == 0U);
  BOOST_TEST(completions[1].length == 0U);
}

BOOST_AUTO_TEST_CASE(a_full_send_queue_refuses) {
  TwoRnics two;
  two.a.pair = *two.a.rnic->create_queue_pair({.domain = two.a.domain,
                                               .send_completions = two.a.queue,
                                               .receive_completions = two.a.queue,
                                               .send_depth = 2});
  two.connect();
  const std::vector<SendRequest> requests(3, SendRequest{.operation = Operation::write});
  const auto posted = two.a.rnic->post_send(two.a.pair, requests);
  BOOST_REQUIRE(!posted);
  BOOST_TEST((posted.error().error == Error::queue_full));
  BOOST_TEST(posted.error().index == 2U);
  two.settle();
  BOOST_TEST(two.a.completions().size() == 2U);
}

BOOST_AUTO_TEST_CASE(after_a_loss_everything_completes_flushed_and_in_order) {
  TwoRnics two;
  two.connect();
  two.a.receive(10, {two.a.piece(0, 8)});
  two.a.receive(11, {two.a.piece(8, 8)});
  const SendRequest read{.id = 1,
                         .operation = Operation::read,
                         .pieces = {two.a.piece(0, 8)},
                         .remote_stag = two.b.region.stag,
                         .remote_offset = two.b.region.base};
  two.a.send(read);
  two.a.send({.id = 2, .operation = Operation::write, .signaled = false, .fence = true});
  two.lose();
  const auto completions = two.a.completions();
  BOOST_REQUIRE(completions.size() == 4U);
  BOOST_TEST(completions[0].id == 1U);
  BOOST_TEST(completions[1].id == 2U);
  BOOST_TEST(completions[2].id == 10U);
  BOOST_TEST(completions[3].id == 11U);
  for (const Completion& completion : completions) {
    BOOST_TEST((completion.status == Status::flushed));
    BOOST_TEST(completion.length == 0U);
  }
  BOOST_TEST(two.a.saw(AsyncKind::queue_pair_fatal));
  BOOST_TEST((two.a.state() == QueuePairState::error));
  // What is posted afterwards is flushed too.
  two.a.send({.id = 3, .operation = Operation::write});
  two.a.receive(12, {});
  const auto late = two.a.completions();
  BOOST_REQUIRE(late.size() == 2U);
  BOOST_TEST((late[0].status == Status::flushed && late[1].status == Status::flushed));
}

BOOST_AUTO_TEST_CASE(a_queue_pair_whose_stream_was_lost_serves_another_stream_once_it_is_reset) {
  TwoRnics two;
  two.connect();
  // A local operation that waits delays the work posted after it, as long as the stream is open.
  two.a.send(read_across(two, 1));
  two.a.send({.id = 2,
              .operation = Operation::local_invalidate,
              .invalidate_stag = two.a.region.stag,
              .fence = true});
  two.a.send({.id = 3, .operation = Operation::write});
  two.lose();
  BOOST_TEST(two.a.completions().size() == 3U);
  for (Side* side : {&two.a, &two.b})
    BOOST_TEST(side->rnic->reset_queue_pair(side->pair).has_value());
  two.connect();
  two.a.send({.id = 4, .operation = Operation::write});
  two.settle();
  const auto completions = two.a.completions();
  BOOST_REQUIRE(completions.size() == 1U);
  BOOST_TEST((completions[0].id == 4U && completions[0].status == Status::success));
}

BOOST_AUTO_TEST_CASE(a_stream_that_is_destroyed_takes_all_work_with_it) {
  TwoRnics two;
  two.connect();
  two.a.send({.id = 1, .operation = Operation::write});
  two.a.send({.id = 2, .operation = Operation::write});
  two.a.receive(3, {});
  two.a.stream.reset();
  const auto completions = two.a.completions();
  BOOST_REQUIRE(completions.size() == 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    BOOST_TEST(completions[i].id == i + 1);
    BOOST_TEST((completions[i].status == Status::flushed));
  }
  BOOST_TEST((two.a.state() == QueuePairState::error));
}

BOOST_AUTO_TEST_CASE(a_loss_is_news_until_the_stream_has_ended_by_a_terminate) {
  for (const bool closing : {true, false}) {
    TwoRnics two;
    two.connect();
    if (closing)
      BOOST_TEST(two.a.rnic->close(two.a.pair).has_value());
    else
      BOOST_TEST(two.a.rnic->abort(two.a.pair).has_value());
    two.loop.run();
    two.a.async.clear();
    two.a.stream->call(&rnic::stream::Stream::lost, rnic::stream::TimePoint{});
    two.loop.run();
    BOOST_TEST(two.a.saw(AsyncKind::queue_pair_fatal) == closing);
    BOOST_TEST((two.a.state() == QueuePairState::error));
  }
}

BOOST_AUTO_TEST_CASE(an_orderly_close_carries_out_what_is_posted_and_flushes_receives) {
  TwoRnics two;
  two.connect();
  two.b.receive(5, {two.b.piece(0, 8)});
  two.a.receive(6, {two.a.piece(0, 8)});
  two.a.send({.id = 1, .operation = Operation::send});
  BOOST_TEST(two.a.rnic->close(two.a.pair).has_value());
  BOOST_TEST((two.a.state() == QueuePairState::closing));
  const SendRequest late{.operation = Operation::write};
  BOOST_TEST((two.a.rnic->post_send(two.a.pair, std::span(&late, 1)).error().error ==
              Error::invalid_state));
  two.settle();
  const auto at_a = two.a.completions(), at_b = two.b.completions();
  BOOST_REQUIRE(at_a.size() == 2U);
  BOOST_TEST((at_a[0].id == 1U && at_a[0].status == Status::success));
  BOOST_TEST((at_a[1].id == 6U && at_a[1].status == Status::flushed));
  BOOST_REQUIRE(at_b.size() == 1U);
  BOOST_TEST((at_b[0].status == Status::success));
  BOOST_TEST((two.a.state() == QueuePairState::error));
  BOOST_TEST((two.b.state() == QueuePairState::error));
  BOOST_TEST(two.a.async.empty());
  BOOST_TEST(two.b.async.empty());
  BOOST_TEST(two.a.rnic->reset_queue_pair(two.a.pair).has_value());
}

BOOST_AUTO_TEST_CASE(after_a_fault_receives_are_flushed_before_the_peer_has_closed) {
  TwoRnics two;
  two.connect();
  two.a.receive(1, {two.a.piece(0, 8)});
  two.a.send({.id = 2, .operation = Operation::local_invalidate, .invalidate_stag = 0xBAD});
  BOOST_TEST((two.a.state() == QueuePairState::terminate));
  two.a.receive(3, {});
  const auto completions = two.a.completions();
  BOOST_REQUIRE(completions.size() == 3U);
  BOOST_TEST((completions[0].id == 2U && completions[0].status == Status::invalidation));
  BOOST_TEST((completions[1].id == 1U && completions[1].status == Status::flushed));
  BOOST_TEST((completions[2].id == 3U && completions[2].status == Status::flushed));
}

BOOST_AUTO_TEST_CASE(an_abort_is_seen_by_the_peer_as_a_terminate) {
  TwoRnics two;
  two.connect();
  two.a.send({.id = 1, .operation = Operation::write});
  two.settle();
  BOOST_TEST(two.a.rnic->abort(two.a.pair).has_value());
  two.settle();
  BOOST_TEST(two.b.saw(AsyncKind::terminate_received));
  BOOST_TEST((two.a.state() == QueuePairState::error));
  BOOST_TEST((two.b.state() == QueuePairState::error));
}

BOOST_AUTO_TEST_CASE(a_completion_queue_that_overflows_ends_its_streams_and_says_so) {
  TwoRnics two;
  const CompletionQueueHandle small = *two.a.rnic->create_completion_queue(2, {});
  two.a.pair = *two.a.rnic->create_queue_pair(
      {.domain = two.a.domain, .send_completions = small, .receive_completions = two.a.queue});
  two.connect();
  for (std::uint64_t id = 1; id <= 3; ++id) two.a.send({.id = id, .operation = Operation::write});
  two.settle();
  BOOST_TEST(two.a.saw(AsyncKind::completion_queue_error));
  two.settle();
  BOOST_TEST((two.a.state() == QueuePairState::error));
  BOOST_TEST((two.b.state() == QueuePairState::error));
  std::array<Completion, 4> out;
  BOOST_TEST(two.a.rnic->poll(small, out).value_or(0) == 2U);
  BOOST_TEST((two.a.rnic->poll(small, out).error() == Error::overflowed));
}

BOOST_AUTO_TEST_CASE(a_destroyed_queue_pair_leaves_a_stream_that_wants_a_reset) {
  TwoRnics two;
  two.connect();
  two.a.send({.id = 1, .operation = Operation::write, .pieces = {two.a.piece(0, 4096)}});
  BOOST_TEST(two.a.rnic->destroy_queue_pair(two.a.pair).has_value());
  BOOST_TEST((two.a.stream->machine().closing() == rnic::stream::Closing::reset));
  std::vector<rnic::wire::Bytes> list;
  two.a.stream->machine().gather(list, 65536, nullptr);
  BOOST_TEST(list.empty());
}

BOOST_AUTO_TEST_CASE(handlers_never_run_inside_a_call) {
  TwoRnics two;
  bool inside = false, seen_inside = false;
  int calls = 0;
  const CompletionQueueHandle queue =
      *two.a.rnic->create_completion_queue(16, [&](CompletionQueueHandle) {
        ++calls;
        seen_inside = seen_inside || inside;
      });
  two.a.pair = *two.a.rnic->create_queue_pair(
      {.domain = two.a.domain, .send_completions = queue, .receive_completions = queue});
  BOOST_TEST(two.a.rnic->arm(queue, Arm::next).has_value());
  inside = true;
  two.a.receive(1, {});
  BOOST_TEST(two.a.rnic->abort(two.a.pair).has_value());
  inside = false;
  two.loop.run();
  BOOST_TEST(calls == 1);
  BOOST_TEST(!seen_inside);
}

BOOST_AUTO_TEST_CASE(each_fault_is_reported_as_the_peers_access_its_request_or_ours) {
  namespace layer = rnic::wire::layer;
  namespace type = rnic::wire::error_type;
  using rnic::wire::TerminateCause;
  BOOST_TEST((fault_kind(TerminateCause{layer::rdmap, type::rdmap_protection, 0}) ==
              AsyncKind::queue_pair_access_error));
  BOOST_TEST((fault_kind(TerminateCause{layer::ddp, type::ddp_tagged, 0}) ==
              AsyncKind::queue_pair_access_error));
  BOOST_TEST((fault_kind(TerminateCause{layer::rdmap, type::rdmap_operation, 0}) ==
              AsyncKind::queue_pair_request_error));
  BOOST_TEST((fault_kind(TerminateCause{layer::ddp, type::ddp_untagged, 0}) ==
              AsyncKind::queue_pair_request_error));
  for (std::uint8_t kind = 0; kind < 4; ++kind)
    BOOST_TEST((fault_kind(TerminateCause{layer::mpa, kind, 0}) == AsyncKind::queue_pair_fatal));
  BOOST_TEST((fault_kind(TerminateCause{layer::rdmap, type::rdmap_local, 0}) ==
              AsyncKind::queue_pair_fatal));
  BOOST_TEST((fault_kind(TerminateCause{layer::ddp, 0, 0}) == AsyncKind::queue_pair_fatal));
}

BOOST_AUTO_TEST_SUITE_END()
