// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Receives: lengths, solicited events, shared queues and their limit, immediate data.
#include <boost/test/unit_test.hpp>

#include "reference_rnic/verbs/tests/two_rnics.hpp"

using namespace rnic::verbs;
using namespace rnic::verbs::test;

BOOST_AUTO_TEST_SUITE(receives)

BOOST_AUTO_TEST_CASE(a_message_fills_the_pieces_in_order_and_says_its_length) {
  TwoRnics two;
  two.connect();
  two.b.receive(5, {two.b.piece(0, 4), two.b.piece(100, 60)});
  two.a.number(10);
  two.a.send({.id = 1, .operation = Operation::send, .pieces = {two.a.piece(0, 10)}});
  two.settle();
  const auto completions = two.b.completions();
  BOOST_REQUIRE(completions.size() == 1U);
  BOOST_TEST(
      (completions[0].operation == Operation::receive && completions[0].status == Status::success));
  BOOST_TEST(completions[0].id == 5U);
  BOOST_TEST(completions[0].length == 10U);
  BOOST_TEST(!completions[0].solicited);
  BOOST_TEST((two.b.memory[3] == std::byte{4} && two.b.memory[4] == std::byte{0}));
  BOOST_TEST((two.b.memory[100] == std::byte{5} && two.b.memory[105] == std::byte{10}));
}

BOOST_AUTO_TEST_CASE(a_message_that_is_too_long_fails_the_receive_and_the_stream) {
  TwoRnics two;
  two.connect();
  two.b.receive(5, {two.b.piece(0, 4)});
  two.b.receive(6, {two.b.piece(8, 4)});
  two.a.send({.id = 1, .operation = Operation::send, .pieces = {two.a.piece(0, 5)}});
  two.settle();
  const auto completions = two.b.completions();
  BOOST_REQUIRE(completions.size() == 2U);
  BOOST_TEST(completions[0].id == 5U);
  BOOST_TEST((completions[0].status == Status::local_length));
  BOOST_TEST((completions[1].status == Status::flushed));
  BOOST_TEST(two.b.saw(AsyncKind::queue_pair_request_error));
}

BOOST_AUTO_TEST_CASE(a_receive_that_a_message_has_begun_to_fill_is_outstanding) {
  TwoRnics two;
  two.connect();
  two.b.receive(5, {two.b.piece(0, 2000)});
  two.b.receive(6, {two.b.piece(2000, 8)});
  two.a.send({.id = 1, .operation = Operation::send, .pieces = {two.a.piece(0, 2000)}});
  two.deliver_to(two.b, 100);
  BOOST_TEST(two.b.rnic->query_queue_pair(two.b.pair)->receives_outstanding == 2U);
  two.b.stream->call(&rnic::stream::Stream::lost, rnic::stream::TimePoint{});
  const auto completions = two.b.completions();
  BOOST_REQUIRE(completions.size() == 2U);
  BOOST_TEST((completions[0].id == 5U && completions[0].status == Status::flushed));
  BOOST_TEST((completions[1].id == 6U && completions[1].status == Status::flushed));
}

BOOST_AUTO_TEST_CASE(a_message_without_a_buffer_ends_the_stream) {
  TwoRnics two;
  two.connect();
  two.a.send({.id = 1, .operation = Operation::send, .pieces = {two.a.piece(0, 5)}});
  two.settle();
  BOOST_TEST((two.b.state() == QueuePairState::error));
  BOOST_TEST(two.a.saw(AsyncKind::terminate_received));
}

BOOST_AUTO_TEST_CASE(a_buffer_that_may_not_be_written_fails_the_receive) {
  TwoRnics two;
  two.connect();
  const RegionInfo fixed = two.b.expose(0, 64, {.remote_read = true});
  two.b.receive(5, {{.stag = fixed.stag, .offset = fixed.base, .length = 64}});
  two.a.number(4);
  two.a.send({.id = 1, .operation = Operation::send, .pieces = {two.a.piece(0, 4)}});
  two.settle();
  const auto completions = two.b.completions();
  BOOST_REQUIRE(completions.size() == 1U);
  BOOST_TEST((completions[0].status == Status::local_protection));
  BOOST_TEST((two.b.memory[0] == std::byte{0}));
}

BOOST_AUTO_TEST_CASE(only_solicited_messages_wake_a_queue_armed_for_them) {
  TwoRnics two;
  Side& b = two.b;
  int calls = 0;
  const CompletionQueueHandle counting =
      *b.rnic->create_completion_queue(16, [&](CompletionQueueHandle) { ++calls; });
  b.pair = *b.rnic->create_queue_pair(
      {.domain = b.domain, .send_completions = b.queue, .receive_completions = counting});
  two.connect();
  for (std::uint64_t id = 1; id <= 3; ++id) b.receive(id, {b.piece(0, 8)});
  BOOST_TEST(b.rnic->arm(counting, Arm::solicited).has_value());
  two.a.send({.id = 1, .operation = Operation::send});
  two.settle();
  BOOST_TEST(calls == 0);
  two.a.send({.id = 2, .operation = Operation::send_solicited});
  two.settle();
  BOOST_TEST(calls == 1);
  two.a.send({.id = 3, .operation = Operation::send_solicited});
  two.settle();
  BOOST_TEST(calls == 1);  // it was armed for one
}

BOOST_AUTO_TEST_CASE(immediate_data_complete_a_receive) {
  TwoRnics two;
  two.connect();
  two.b.receive(5, {two.b.piece(0, 8)});
  SendRequest request{.id = 1, .operation = Operation::immediate_solicited};
  for (std::size_t i = 0; i < request.immediate.size(); ++i)
    request.immediate[i] = static_cast<std::byte>(0xA0 + i);
  two.a.send(request);
  two.settle();
  const auto completions = two.b.completions();
  BOOST_REQUIRE(completions.size() == 1U);
  BOOST_REQUIRE(completions[0].immediate.has_value());
  BOOST_TEST((*completions[0].immediate == request.immediate));
  BOOST_TEST(completions[0].solicited);
}

BOOST_AUTO_TEST_CASE(a_shared_queue_serves_its_queue_pair_and_warns_once) {
  TwoRnics two;
  Side& b = two.b;
  const SharedQueueHandle shared =
      *b.rnic->create_shared_queue(b.domain, {.depth = 4, .max_pieces = 1});
  b.pair = *b.rnic->create_queue_pair({.domain = b.domain,
                                       .send_completions = b.queue,
                                       .receive_completions = b.queue,
                                       .shared_queue = shared});
  std::vector<ReceiveRequest> requests;
  for (std::uint64_t id = 1; id <= 5; ++id)
    requests.push_back({.id = id, .pieces = {b.piece(id * 8, 8)}});
  const auto posted = b.rnic->post_receive(shared, requests);
  BOOST_REQUIRE(!posted);
  BOOST_TEST((posted.error().error == Error::queue_full));
  BOOST_TEST(posted.error().index == 4U);
  BOOST_TEST((b.rnic->post_receive(b.pair, std::span(requests).first(1)).error().error ==
              Error::invalid_parameter));
  BOOST_TEST((b.rnic->arm_limit(shared, 5).error() == Error::invalid_parameter));
  BOOST_TEST(b.rnic->arm_limit(shared, 3).has_value());
  two.connect();
  for (std::uint64_t id = 1; id <= 3; ++id)
    two.a.send({.id = id, .operation = Operation::send, .pieces = {two.a.piece(0, 1)}});
  two.settle();
  BOOST_TEST(b.completions().size() == 3U);
  BOOST_TEST(b.rnic->query_shared_queue(shared)->posted == 1U);
  BOOST_TEST(std::ranges::count(b.async, AsyncKind::shared_queue_limit, &AsyncEvent::kind) == 1);
  two.lose();
  BOOST_TEST(b.saw(AsyncKind::last_buffer));
  // Receives that were not taken remain for others.
  BOOST_TEST(b.rnic->query_shared_queue(shared)->posted == 1U);
  BOOST_TEST(b.completions().empty());
}

BOOST_AUTO_TEST_SUITE_END()
