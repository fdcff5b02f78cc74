// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Lists of requests of which one is refused, inline data, and what an endpoint lets its peer do.
#include <boost/test/unit_test.hpp>

#include "reference_rnic/verbs/tests/two_rnics.hpp"

using namespace rnic::verbs;
using namespace rnic::verbs::test;

BOOST_AUTO_TEST_SUITE(posting)

BOOST_AUTO_TEST_CASE(what_is_posted_ahead_of_a_refused_request_is_carried_on_with) {
  TwoRnics two;
  Side& a = two.a;
  BOOST_REQUIRE(a.rnic->abort(a.pair).has_value());
  std::vector<ReceiveRequest> receives(3);
  receives[0].id = 1;
  receives[1].pieces.resize(QueuePairAttributes{}.max_pieces + 1);
  const auto received = a.rnic->post_receive(a.pair, receives);
  BOOST_REQUIRE(!received);
  BOOST_TEST(received.error().index == 1U);
  std::vector<SendRequest> sends(3);
  sends[0].id = 11;
  sends[1].pieces.resize(QueuePairAttributes{}.max_pieces + 1);
  const auto sent = a.rnic->post_send(a.pair, sends);
  BOOST_REQUIRE(!sent);
  BOOST_TEST(sent.error().index == 1U);
  const auto completions = a.completions();
  BOOST_REQUIRE(completions.size() == 2U);
  BOOST_TEST(completions[0].id == 1U);
  BOOST_TEST(completions[1].id == 11U);
}

BOOST_AUTO_TEST_CASE(inline_data_is_what_memory_held_when_it_was_posted) {
  TwoRnics two;
  Side& a = two.a;
  a.pair = *a.rnic->create_queue_pair({.domain = a.domain,
                                       .send_completions = a.queue,
                                       .receive_completions = a.queue,
                                       .max_inline = 12});
  two.connect();
  a.number(16);
  two.b.receive(1, {two.b.piece(0, 16)});
  const rnic::wire::Bytes memory = a.memory;
  SendRequest request{.id = 1, .inline_data = {memory.subspan(8, 8), memory.first(4)}};
  a.send(request);
  a.memory.assign(a.memory.size(), std::byte{0xEE});
  two.settle();
  BOOST_TEST((two.b.memory[0] == std::byte{9}));
  BOOST_TEST((two.b.memory[8] == std::byte{1}));
  BOOST_TEST(a.completions().at(0).length == 12U);
  request.inline_data.push_back(memory.first(1));
  const auto too_much = a.rnic->post_send(a.pair, std::span(&request, 1));
  BOOST_TEST((too_much.error().error == Error::no_resources));
  request.operation = Operation::read;
  const auto of_a_read = a.rnic->post_send(a.pair, std::span(&request, 1));
  BOOST_TEST((of_a_read.error().error == Error::invalid_parameter));
}

BOOST_AUTO_TEST_CASE(an_endpoint_for_reads_takes_no_writes) {
  TwoRnics two;
  BOOST_REQUIRE(two.b.rnic->set_access(two.b.pair, {.remote_read = true}).has_value());
  two.connect();
  SendRequest request{.id = 1,
                      .operation = Operation::read,
                      .pieces = {two.a.piece(0, 8)},
                      .remote_stag = two.b.region.stag,
                      .remote_offset = two.b.region.base};
  two.a.send(request);
  two.settle();
  BOOST_TEST((two.a.completions().at(0).status == Status::success));
  request.operation = Operation::write;
  two.a.number(8);
  two.a.send(request);
  two.settle();
  BOOST_TEST((two.b.memory[0] == std::byte{0}));
  BOOST_TEST(two.b.saw(AsyncKind::queue_pair_access_error));
}

BOOST_AUTO_TEST_SUITE_END()
