// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Commands of connections: what is reported at startup, and what is refused.
#include <boost/test/unit_test.hpp>

#include "suite/upper_tester/reference/tests/two_iuts.hpp"

using namespace suite;
using namespace suite::upper_tester::reference::test;

BOOST_AUTO_TEST_SUITE(commands)

BOOST_AUTO_TEST_CASE(the_hello_claims_every_capability_and_states_limits) {
  TwoIuts two;
  const iut::Hello& hello = two.a.iut().hello();
  BOOST_TEST(hello.version == iut::protocol_version);
  BOOST_TEST(hello.driver == "reference");
  BOOST_TEST(hello.capabilities.size() == 37U);
  BOOST_TEST(hello.limits.at("max_ird") > 0);
  BOOST_TEST(hello.limits.at("max_private_data") == 508);
}

BOOST_AUTO_TEST_CASE(startup_shows_private_data_and_depths_from_our_side) {
  TwoIuts two;
  iut::ConnectParameters parameters;
  parameters.private_data = octets(1, 2, 3);
  parameters.ird = 2;
  parameters.ord = 6;
  two.start_connecting(parameters);
  const auto request = two.b.event<iut::ConnectRequestEvent>();
  BOOST_REQUIRE(request.has_value());
  BOOST_TEST(request->listener == listener);
  BOOST_TEST((request->private_data == octets(1, 2, 3)));
  BOOST_TEST(request->ird.value_or(0) == 6);
  BOOST_TEST(request->ord.value_or(0) == 2);
  iut::QueryEndpoint query;
  query.endpoint = endpoint;
  BOOST_TEST(*two.a.must(query).state == "connecting");
  iut::Accept accept;
  accept.request = request->request;
  accept.endpoint = endpoint;
  accept.parameters.private_data = octets(4);
  two.b.must(accept);
  BOOST_TEST((two.b.ask(accept).outcome == iut::Outcome::failed));  // once only
  const auto established = two.a.event<iut::EstablishedEvent>();
  BOOST_REQUIRE(established.has_value());
  BOOST_TEST((established->private_data == octets(4)));
  BOOST_TEST(established->ird.value_or(0) == 2);
  BOOST_TEST(established->ord.value_or(0) == 6);
  BOOST_TEST(two.b.event<iut::EstablishedEvent>().has_value());
  BOOST_TEST(*two.a.must(query).state == "connected");
}

BOOST_AUTO_TEST_CASE(a_rejection_and_a_refusal_are_told_apart) {
  TwoIuts two;
  two.start_connecting();
  const auto request = two.b.event<iut::ConnectRequestEvent>();
  BOOST_REQUIRE(request.has_value());
  iut::Reject reject;
  reject.request = request->request;
  reject.private_data = octets(7, 7);
  two.b.must(reject);
  const auto rejected = two.a.event<iut::RejectedEvent>();
  BOOST_REQUIRE(rejected.has_value());
  BOOST_TEST((rejected->private_data == octets(7, 7)));
  iut::CreateEndpoint create;
  create.endpoint = 2;
  two.a.must(create);
  iut::Connect connect;
  connect.endpoint = 2;
  connect.address = "10.77.0.2";
  connect.port = 9;
  two.a.must(connect);
  const auto failed = two.a.event<iut::ConnectFailedEvent>();
  BOOST_REQUIRE(failed.has_value());
  BOOST_TEST(failed->reason == "refused");
  BOOST_TEST(failed->endpoint == 2U);
}

BOOST_AUTO_TEST_CASE(configure_applies_to_later_connections_and_outlives_a_reset) {
  TwoIuts two;
  iut::Configure configure;
  configure.revision = 1;
  two.a.must(configure);
  two.a.must(iut::Reset{});
  two.start_connecting();
  const auto request = two.b.event<iut::ConnectRequestEvent>();
  BOOST_REQUIRE(request.has_value());
  BOOST_TEST(!request->ird.has_value());  // revision 1 has no place for them
  configure.revision = 3;
  BOOST_TEST((two.a.ask(configure).outcome == iut::Outcome::failed));
  configure.revision = 2;
  configure.rtr = {"send", "sing"};
  BOOST_TEST((two.a.ask(configure).outcome == iut::Outcome::failed));
}

BOOST_AUTO_TEST_CASE(every_listener_has_a_port_of_its_own_in_both_families) {
  TwoIuts two;
  iut::Listen listen;
  listen.listener = 1;
  const auto first = two.a.must(listen);
  BOOST_TEST(*first.address == "10.77.0.1");
  listen.listener = 2;
  listen.family = "ipv6";
  const auto second = two.a.must(listen);
  BOOST_TEST(*second.address == "fd77::1");
  BOOST_TEST(*second.port != 0);
  listen.listener = 3;
  listen.family = "ipx";
  BOOST_TEST((two.a.ask(listen).outcome == iut::Outcome::failed));
  listen.family = "ipv4";
  listen.address = "10.77.0.1";
  listen.port = *first.port;
  BOOST_TEST((two.a.ask(listen).outcome == iut::Outcome::failed));
  iut::StopListening stop;
  stop.listener = 1;
  two.a.must(stop);
  BOOST_TEST((two.a.ask(stop).outcome == iut::Outcome::failed));
  two.a.must(listen);
}

BOOST_AUTO_TEST_CASE(parameters_that_cannot_be_are_refused) {
  TwoIuts two;
  two.make_objects(two.a, two.region_a);
  iut::Connect connect;
  connect.endpoint = endpoint;
  connect.address = "10.77.0.2";
  for (const int depth : {-1, 17, 16382, 16384, 70000}) {
    connect.parameters.ird = depth;
    BOOST_TEST((two.a.ask(connect).outcome == iut::Outcome::failed), depth);
  }
  connect.parameters.ird.reset();
  connect.address = "example.org";
  BOOST_TEST((two.a.ask(connect).outcome == iut::Outcome::failed));
  connect.address = "10.77.0.2";
  connect.parameters.private_data.resize(509);
  BOOST_TEST((two.a.ask(connect).outcome == iut::Outcome::failed));
  iut::PostWork work;
  work.endpoint = endpoint;
  work.operation = "dance";
  BOOST_TEST((two.a.ask(work).outcome == iut::Outcome::failed));
  work.operation = iut::operation::send;
  work.pieces = {{77, 0, 1}};
  BOOST_TEST((two.a.ask(work).outcome == iut::Outcome::failed));
}

BOOST_AUTO_TEST_CASE(a_command_that_is_not_carried_out_yet_can_be_taken_back) {
  TwoIuts two;
  iut::CreateDomain create;
  create.domain = 4;
  const auto first = two.a.iut().post(create);
  iut::Cancel cancel;
  cancel.command = first;
  const auto second = two.a.iut().post(cancel);
  const auto cancelled = two.a.event<iut::Reply>();
  BOOST_REQUIRE(cancelled.has_value());
  BOOST_TEST(cancelled->command == first);
  BOOST_TEST((cancelled->outcome == iut::Outcome::cancelled));
  const auto done = two.a.event<iut::Reply>();
  BOOST_REQUIRE(done.has_value());
  BOOST_TEST(done->command == second);
  BOOST_TEST((done->outcome == iut::Outcome::ok));
  two.a.must(create);  // it had not been made
  cancel.command = first;
  two.a.must(cancel);  // too late is no error
}

BOOST_AUTO_TEST_SUITE_END()
