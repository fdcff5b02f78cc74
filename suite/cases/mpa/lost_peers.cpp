// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5044 sections 7.1, 7.2 and 8: peers that disappear in any state of a connection, that stay
// half open, or that err while others do not.
#include "suite/cases/mpa/startup_steps.hpp"

namespace suite::cases {

using namespace startup;  // NOLINT(google-build-using-namespace): the steps are the cases' words

namespace {

enum class ConsumerKnows : std::uint8_t { nothing, of_request, of_connection };

/// A state in which the peer may disappear, and what the IUT's consumer knows by then.
struct Moment {
  const char* name;
  ConsumerKnows knows;
  std::function<void(Body&)> reach;
};

void send_half(Body& on, const StartupFrame& frame) {
  on.peer.raw().send_octets(wire::Bytes(frame.encode()).first(10));
}

std::vector<Moment> moments_of_responder(const Consumer& iut) {
  std::vector<Moment> moments{
      {"before the Request", ConsumerKnows::nothing, [](Body& on) { on.peer.connect(); }},
      {"within the Request", ConsumerKnows::nothing,
       [](Body& on) {
         on.peer.connect();
         send_half(on, mpa_request());
       }},
      {"before the consumer decides", ConsumerKnows::of_request,
       [](Body& on) { send_request(on, mpa_request()); }},
      {"after the Reply", ConsumerKnows::of_connection, [](Body& on) { on.establish(); }},
      {"after the first FPDU", ConsumerKnows::of_connection,
       [](Body& on) { on.expect_still_working(); }},
  };
  if (iut.can(capability::enhanced_startup) && iut.can(capability::peer_to_peer)) {
    moments.push_back({"before the RTR indication", ConsumerKnows::of_connection, [](Body& on) {
                         static_cast<void>(reply_to(on, enhanced_request(any_rtr)));
                       }});
  }
  return moments;
}

std::vector<Moment> moments_of_initiator() {
  return {
      {"before the Request", ConsumerKnows::of_connection, [](Body& on) { on.let_iut_connect(); }},
      {"after the Request", ConsumerKnows::of_connection,
       [](Body& on) { static_cast<void>(request_of(on)); }},
      {"within the Reply", ConsumerKnows::of_connection,
       [](Body& on) { send_half(on, accepting(on, request_of(on))); }},
      {"after the Reply", ConsumerKnows::of_connection,
       [](Body& on) { on.peer.raw().send(accepting(on, request_of(on))); }},
      {"after its first FPDU", ConsumerKnows::of_connection,
       [](Body& on) { on.expect_still_working(); }},
  };
}

/// What the consumer learns about the end of a connection, in whatever state the connection was.
ExpectedEvent told_of_the_end() { return connect_failed() | rejected() | disconnected(); }

/// A connection request whose peer has gone: the consumer may be too late, or learns of it
/// afterwards.
std::optional<iut::Event> answer_to_one_gone(Body& on, const iut::ConnectRequestEvent& request) {
  on.watch(on.peer.raw());  // the end has arrived by now
  const iut::Accept command{request.request, on.iut.endpoint(), with_depths(1, 1)};
  const iut::Reply reply = on.iut.try_call(command, "accept a peer that has gone");
  if (reply.outcome != iut::Outcome::ok)
    return iut::ConnectFailedEvent{on.iut.endpoint(), "refused by the API: " + reply.error};
  return on.iut.take(told_of_the_end().matches, on.context().deadline);
}

/// The peer disappears in each state: the consumer learns of it if it knew of the connection, and
/// the next connection works.
void leave_in_each_state(Body& on, const std::function<void()>& leave,
                         const std::function<void(const std::optional<iut::Event>&)>& judge,
                         const RuleRef& goes_on) {
  const bool responder = on.iut_is_responder();
  for (const Moment& moment : responder ? moments_of_responder(on.iut) : moments_of_initiator()) {
    on.row(moment.name, [&] {
      moment.reach(on);
      if (!responder) on.stop_listening();  // it may try again at once
      std::optional<iut::ConnectRequestEvent> request;
      if (moment.knows == ConsumerKnows::of_request) request = asked(on);
      leave();
      if (request) judge(answer_to_one_gone(on, *request));
      if (moment.knows == ConsumerKnows::of_connection)
        judge(on.iut.take(told_of_the_end().matches, on.context().deadline));
      on.establish(on.another_peer(), {.endpoint = on.iut.create_endpoint(), .judged_by = goes_on});
    });
  }
}

}  // namespace

CONFORMANCE_CASE(reset_in_any_state_is_noticed, rules("mpa.terminate.tcp-loss-detected"),
                 in_both_roles, over_both_families) {
  const auto judge = [&](const std::optional<iut::Event>& event) {
    expect_that(event.has_value(), "a report to the consumer that the connection is gone",
                event ? describe(*event) : "no event");
  };
  leave_in_each_state(*this, [&] { peer.reset(); }, judge, "mpa.terminate.tcp-loss-detected");
}

CONFORMANCE_CASE(close_in_any_state_is_noticed, rules("mpa.close.graceful-close-indicated"),
                 in_both_roles, over_both_families) {
  const auto judge = [&](const std::optional<iut::Event>& event) {
    advise_that(event.has_value(), "a report to the consumer that the connection has ended",
                event ? describe(*event) : "no event");
  };
  leave_in_each_state(
      *this, [&] { peer.half_close(); }, judge, "mpa.close.graceful-close-indicated");
}

CONFORMANCE_CASE(many_half_open_startups_do_not_delay_others,
                 rules("mpa.startup.acceptable-request-accepted"), over_both_families) {
  constexpr std::size_t half_open = 8;
  const Octets request = mpa_request().encode();
  std::vector<Peer*> slow;
  for (std::size_t i = 0; i < half_open; ++i) {
    slow.push_back(&another_peer());
    if (const auto up = slow.back()->connect(iut_address()); !up)
      stop(Verdict::inconclusive, up.error());
  }
  // A later connection that comes up shows that the half-open ones were accepted. Faults with
  // octets that arrive while a connection is being accepted are found by
  // request_in_pieces_is_put_together.
  establish(another_peer(), {.endpoint = iut.create_endpoint(),
                             .judged_by = "mpa.startup.acceptable-request-accepted"});
  for (std::size_t i = 0; i < half_open; ++i)
    slow[i]->send_octets(wire::Bytes(request).first(2 * i));
  establish({.judged_by = "mpa.startup.acceptable-request-accepted"});
  expect_still_working();
  // A slow Request is not a wrong one: the connection comes up as soon as the rest arrives.
  slow.back()->send_rest(mpa_request(), 2 * (half_open - 1));
  const auto asked_late = std::get<iut::ConnectRequestEvent>(expect(iut, connect_request()));
  iut.accept(asked_late.request, iut.create_endpoint(), with_depths(1, 1));
  expect(*slow.back(), accepting_reply());
}

CONFORMANCE_CASE(listener_serves_many_connections_at_once,
                 rules("mpa.startup.acceptable-request-accepted"), deadline_of(60s)) {
  // A count of eight bits is exhausted by them, whether it is of connections or of startups.
  constexpr std::size_t many = 264;
  const auto most = iut.limits().find("max_endpoints");
  if (most != iut.limits().end() && most->second < std::int64_t{many})
    throw lacking_limit("max_endpoints", fmt::format("{} connections at once", many));
  const iut::CreateEndpoint small{.send_depth = 4, .receive_depth = 4, .max_pieces = 1};
  std::vector<std::pair<Peer*, iut::Handle>> alive;
  for (std::size_t i = 0; i < many; ++i) {
    const iut::Handle endpoint = iut.create_endpoint(small);
    Peer& next = another_peer();
    establish(next, {.endpoint = endpoint, .judged_by = "mpa.startup.acceptable-request-accepted"});
    alive.emplace_back(&next, endpoint);
  }
  for (const auto& [each, endpoint] : alive) {
    const Work receive = iut.post_receive(16, endpoint);
    each->send(send_message(payload(16)));
    expect(receive, completes().with_length(16), "mpa.startup.acceptable-request-accepted");
  }
}

CONFORMANCE_CASE(malformed_request_does_not_disturb_waiting_connections,
                 rules("mpa.startup.bad-request-closes-tcp",
                       "mpa.startup.acceptable-request-accepted")) {
  send_request(*this, mpa_request());
  const iut::ConnectRequestEvent waiting = asked(*this);
  Peer& wrong = another_peer();
  if (const auto up = wrong.connect(iut_address()); !up) stop(Verdict::inconclusive, up.error());
  wrong.send(mpa_request().with_key("MPA ID Rep Frame"));
  expect(wrong, torn_down());
  const iut::Accept command{waiting.request, iut.endpoint(), with_depths(1, 1)};
  const iut::Reply reply = iut.try_call(command, "accept the waiting Request");
  expect_that(reply.outcome == iut::Outcome::ok, "the waiting Request accepted", reply.error);
  expect(peer.raw(), accepting_reply(), "mpa.startup.acceptable-request-accepted");
  expect_still_working();
}

CASES_OF_FILE(mpa, lost_peers)

}  // namespace suite::cases
