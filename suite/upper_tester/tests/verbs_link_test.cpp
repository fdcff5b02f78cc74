// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The connection of an endpoint as both verbs drivers keep it: what each command and event leads to.
#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "suite/upper_tester/verbs/connection_rules.hpp"
#include "suite/upper_tester/verbs/link.hpp"

namespace suite::upper_tester::verbs {
namespace {

constexpr std::uint64_t connect_number = 7;

Link connecting() {
  Link link(3);
  link.resolving(connect_number, {});
  static_cast<void>(link.connect_called(0));
  return link;
}

Link connected() {
  Link link = connecting();
  static_cast<void>(link.take({RDMA_CM_EVENT_ESTABLISHED, 0, {}, 1, 2}));
  return link;
}

Link::Reaction take(Link& link, rdma_cm_event_type type, int error = 0) {
  return link.take({type, error, {}, {}, {}});
}

WorkCompletion completion(std::uint64_t number, ibv_wc_opcode opcode = IBV_WC_SEND) {
  return {number, IBV_WC_SUCCESS, opcode, 64, {}};
}

template <class Event>
const Event& at(const Link::Events& events, std::size_t place) {
  BOOST_REQUIRE(place < events.size());
  BOOST_REQUIRE(std::holds_alternative<Event>(events[place]));
  return std::get<Event>(events[place]);
}

BOOST_AUTO_TEST_SUITE(verbs_link)

BOOST_AUTO_TEST_CASE(each_step_of_a_connect) {
  Link link(3);
  BOOST_TEST(!link.refuse_connect());
  link.resolving(connect_number, {});
  BOOST_TEST(link.awaits(connect_number));
  BOOST_TEST(link.refuse_connect()->code == EISCONN);
  BOOST_TEST(link.answer_disconnect()->code == ENOTCONN);
  BOOST_TEST((take(link, RDMA_CM_EVENT_ADDR_RESOLVED).step == Link::Step::resolve_route));
  BOOST_TEST((take(link, RDMA_CM_EVENT_ROUTE_RESOLVED).step == Link::Step::connect));
  BOOST_TEST(at<iut::Reply>(link.connect_called(0), 0).command == connect_number);
  BOOST_TEST(!link.awaits(connect_number));
  const auto events = link.take({RDMA_CM_EVENT_ESTABLISHED, 0, {}, 1, 2}).events;
  BOOST_TEST(at<iut::EstablishedEvent>(events, 0).endpoint == 3U);
  BOOST_TEST(at<iut::EstablishedEvent>(events, 0).ord.value() == 2);
  BOOST_TEST(link.state_name() == "connected");
  BOOST_TEST(link.has_been_connected());
}

BOOST_AUTO_TEST_CASE(a_late_answer_of_a_neighbour_is_asked_for_again_and_again_but_not_forever) {
  Link link(3);
  link.set_remote({});
  static_cast<void>(link.next_attempt());
  link.resolving(connect_number, {});
  for (int attempt = 1; attempt < resolve_attempts; ++attempt) {
    BOOST_TEST(
        (take(link, RDMA_CM_EVENT_ADDR_ERROR, ETIMEDOUT).step == Link::Step::resolve_address));
    static_cast<void>(link.next_attempt());
  }
  const auto events = take(link, RDMA_CM_EVENT_ADDR_ERROR, ETIMEDOUT).events;
  BOOST_TEST(at<iut::Reply>(events, 0).command == connect_number);
  BOOST_TEST(at<iut::ConnectFailedEvent>(events, 1).reason == "unreachable");
  BOOST_TEST(!link.refuse_connect());
  BOOST_TEST(link.refuse_accept()->code == EISCONN);
}

BOOST_AUTO_TEST_CASE(a_peer_that_refuses_is_an_event_and_a_wrong_call_an_answer) {
  Link link(3);
  link.resolving(connect_number, {});
  const auto refused = link.connect_called(ECONNREFUSED);
  BOOST_TEST((at<iut::Reply>(refused, 0).outcome == iut::Outcome::ok));
  at<iut::ConnectFailedEvent>(refused, 1);
  link.resolving(connect_number, {});
  const auto wrong = link.connect_called(EINVAL);
  BOOST_TEST(wrong.size() == 1U);
  BOOST_TEST((at<iut::Reply>(wrong, 0).outcome == iut::Outcome::failed));
  BOOST_TEST(link.state_name() == "disconnected");
}

BOOST_AUTO_TEST_CASE(a_connect_can_be_cancelled_while_it_is_not_answered) {
  Link link(3);
  BOOST_TEST(!link.cancelled());
  link.resolving(connect_number, {});
  BOOST_TEST((link.cancelled()->outcome == iut::Outcome::cancelled));
  BOOST_TEST(link.cancelled()->command == connect_number);
  link.cancel();
  BOOST_TEST(!link.refuse_accept());
  BOOST_TEST(!connecting().cancelled());
}

BOOST_AUTO_TEST_CASE(the_end_is_reported_once_and_our_half_is_closed_if_the_peer_began) {
  Link link = connected();
  const auto ended = take(link, RDMA_CM_EVENT_DISCONNECTED);
  BOOST_TEST((ended.step == Link::Step::disconnect));
  BOOST_TEST(at<iut::DisconnectedEvent>(ended.events, 0).endpoint == 3U);
  BOOST_TEST(take(link, RDMA_CM_EVENT_DISCONNECTED).events.empty());
  BOOST_TEST((link.answer_disconnect()->outcome == iut::Outcome::ok));

  Link ours = connected();
  ours.disconnecting();
  BOOST_TEST((take(ours, RDMA_CM_EVENT_DISCONNECTED).step == Link::Step::none));

  Link early = connecting();
  BOOST_TEST(
      at<iut::ConnectFailedEvent>(take(early, RDMA_CM_EVENT_DISCONNECTED).events, 0).reason ==
      "lost");
}

BOOST_AUTO_TEST_CASE(an_orderly_end_waits_for_signaled_work) {
  Link link = connected();
  link.posted({1, 11, "write", false});
  BOOST_TEST(link.may_disconnect());
  BOOST_TEST(!link.end_is_due());
  link.posted({2, 12, "send", true});
  BOOST_TEST(!link.may_disconnect());
  BOOST_TEST(!link.end_is_due());
  std::map<std::uint64_t, iut::WorkId> receives;
  BOOST_TEST(std::get<iut::CompletionEvent>(link.completed(completion(2), receives)).work == 12U);
  BOOST_TEST(link.end_is_due());
  link.disconnecting();
  BOOST_TEST(!link.end_is_due());
  BOOST_TEST(link.state_name() == "closing");
  // Done with what was posted after it.
  BOOST_TEST(
      std::holds_alternative<iut::AsynchronousEvent>(link.completed(completion(1), receives)));
}

BOOST_AUTO_TEST_CASE(a_length_is_reported_where_verbs_define_it) {
  Link link = connected();
  std::map<std::uint64_t, iut::WorkId> receives{{5, 15}};
  link.posted({1, 11, iut::operation::write, true});
  link.posted({2, 12, iut::operation::read, true});
  const auto length_of = [&](std::uint64_t number, ibv_wc_opcode opcode) {
    return std::get<iut::CompletionEvent>(link.completed(completion(number, opcode), receives))
        .length;
  };
  BOOST_TEST(length_of(1, IBV_WC_RDMA_WRITE) == 0U);
  BOOST_TEST(length_of(2, IBV_WC_RDMA_READ) == 64U);
  BOOST_TEST(length_of(5, IBV_WC_RECV) == 64U);
  BOOST_TEST(receives.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace suite::upper_tester::verbs
