// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rdma_listen(3), rdma_accept(3) and rdma_destroy_id(3): requests that wait, and endpoints that are
// destroyed while their connection is being accepted.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

/// Opens a connection on `visitor` and sends a Request, which reaches the IUT's consumer.
iut::Handle request_of(Body& body, Peer& visitor) {
  if (const auto done = visitor.connect(body.iut_address()); !done)
    body.stop(Verdict::inconclusive, done.error());
  visitor.send(mpa_request());
  const auto event = body.iut.take<iut::ConnectRequestEvent>(body.context().deadline);
  if (!event) body.stop(Verdict::inconclusive, "the IUT's API shows no connection request");
  return event->request;
}

/// The port of a listener at this address.
std::uint16_t listen_at(Body& body, const std::string& address, const char* what) {
  const bool ipv4 = body.the_case().family == base::Family::ipv4;
  const iut::Listen listen{body.iut.new_handle(), address, ipv4 ? "ipv4" : "ipv6", 0};
  const iut::Reply listening = body.iut.call(listen, what);
  if (!listening.port) body.stop(Verdict::error, "a listener without a port");
  return *listening.port;
}

const char* wildcard(base::Family family) {
  return family == base::Family::ipv4 ? "0.0.0.0" : "::";
}

/// The address of the IUT, and the further ones of its family: two or more.
std::vector<base::Address> several_addresses_like(Body& body, const base::Address& own) {
  std::vector<base::Address> all{own};
  for (const base::Address& further : body.environment().iut_further)
    if (further.family == own.family) all.push_back(further);
  if (all.size() < 2)
    body.stop(
        Verdict::not_applicable,
        "the IUT's host has one address of this family: further_address of the PIXIT names others");
  return all;
}

}  // namespace

CONFORMANCE_CASE(endpoint_is_destroyed_while_it_is_being_accepted,
                 rules("verbs.endpoint.destroyed-while-accepting"),
                 needs(capability::endpoint_attributes)) {
  const auto destroyed = [&](const char* name, const std::function<void(iut::Handle)>& before) {
    row(name, [&] {
      establish();
      Peer& visitor = another_peer();
      const iut::Handle request = request_of(*this, visitor), endpoint = iut.create_endpoint();
      before(endpoint);
      iut.accept(request, endpoint);
      const iut::Reply reply = iut.try_call(iut::DestroyEndpoint{endpoint}, "destroy the endpoint");
      expect_that(reply.outcome == iut::Outcome::ok, "destroyed", reply.error);
      const Arrival first = expect(visitor, accepting_reply() | torn_down() | any_terminate());
      if (!first.is_end()) {
        const base::TimePoint now = context().loop.now();
        const Arrival then = visitor.next(now + (context().deadline - now) / 2);
        // No page says that a connection which had been accepted ends (docs/disputes.md D77).
        advise_that(then.is_end() || then.terminate().has_value(), "the end of the connection",
                    then.text());
      }
      visitor.half_close();
      expect_still_working();
      Peer& next = another_peer();
      establish(next, {.endpoint = iut.create_endpoint(),
                       .judged_by = "verbs.endpoint.destroyed-while-accepting"});
    });
  };
  destroyed("without work", [](iut::Handle) {});
  destroyed("with receives", [&](iut::Handle endpoint) {
    for (int i = 0; i < 3; ++i) static_cast<void>(iut.post_receive(16, endpoint));
  });
}

CONFORMANCE_CASE(as_many_requests_wait_as_the_backlog_says, rules("verbs.listen.backlog-waits"),
                 needs(capability::backlog), deadline_of(10s)) {
  constexpr int backlog = 6;
  const base::Address own = iut_address();
  iut::Listen listen{iut.new_handle(), own.host(),
                     own.family == base::Family::ipv4 ? "ipv4" : "ipv6", 0};
  listen.backlog = backlog;
  const iut::Reply listening = iut.call(listen, "listen with a backlog of 6");
  if (!listening.port) stop(Verdict::error, "a listener without a port");
  std::vector<Peer*> waiting;
  for (int i = 0; i < backlog; ++i) {
    waiting.push_back(&another_peer());
    const auto done = waiting.back()->connect(own.with_port(*listening.port));
    expect_that(done.has_value(), "a connection", done ? "one" : done.error());
    waiting.back()->send(mpa_request());
  }
  std::vector<iut::Handle> requests;
  for (int i = 0; i < backlog; ++i) {
    const auto event = iut.take<iut::ConnectRequestEvent>(context().deadline);
    expect_that(event.has_value(), fmt::format("{} requests", backlog), fmt::format("{}", i));
    if (!event) return;
    requests.push_back(event->request);
  }
  for (const iut::Handle request : requests) iut.accept(request, iut.create_endpoint());
  for (Peer* each : waiting) expect(*each, accepting_reply());
}

CONFORMANCE_CASE(request_names_the_listener_that_it_has_come_to,
                 rules("verbs.listen.request-names-its-listener")) {
  const base::Address own = iut_address();
  std::vector<std::pair<iut::Handle, std::uint16_t>> listeners;
  for (int i = 0; i < 2; ++i) {
    const iut::Handle listener = iut.new_handle();
    const char* family = own.family == base::Family::ipv4 ? "ipv4" : "ipv6";
    const iut::Reply reply = iut.call(iut::Listen{listener, own.host(), family, 0}, "listen");
    listeners.emplace_back(listener, reply.port.value_or(0));
  }
  for (const std::size_t which : {0, 1, 0}) {
    const auto& [listener, port] = listeners[which];
    Peer& visitor = another_peer();
    if (const auto done = visitor.connect(own.with_port(port)); !done)
      stop(Verdict::inconclusive, done.error());
    visitor.send(mpa_request());
    const auto event = iut.take<iut::ConnectRequestEvent>(context().deadline);
    if (!event) stop(Verdict::inconclusive, "the IUT's API shows no connection request");
    expect_that(event->listener == listener, fmt::format("listener {}", listener),
                fmt::format("listener {}", event->listener));
    iut.reject(event->request);
  }
}

CONFORMANCE_CASE(listener_without_an_address_takes_requests_to_all,
                 rules("verbs.listen.wildcard-takes-all-addresses"),
                 needs(capability::wildcard_listen), over_both_families, deadline_of(10s)) {
  const base::Address own = iut_address();
  const std::vector<base::Address> all = several_addresses_like(*this, own);
  const std::uint16_t port = listen_at(*this, wildcard(own.family), "listen on all addresses");
  for (const base::Address& address : all) {
    Peer& visitor = another_peer();
    const auto done = visitor.connect(address.with_port(port));
    expect_that(done.has_value(), fmt::format("a connection to {}", address.host()),
                done ? "one" : done.error());
    visitor.send(mpa_request());
    const auto event = iut.take<iut::ConnectRequestEvent>(context().deadline);
    expect_that(event.has_value(), fmt::format("a request to {}", address.host()), "none");
    iut.accept(event->request, iut.create_endpoint());
    expect(visitor, accepting_reply());
  }
}

CONFORMANCE_CASE(listener_of_one_address_takes_no_request_to_another,
                 rules("verbs.listen.restricted-to-its-address"),
                 needs(capability::wildcard_listen)) {
  const base::Address own = iut_address();
  const std::vector<base::Address> all = several_addresses_like(*this, own);
  establish();
  const std::uint16_t port = listen_at(*this, all[1].host(), "listen on a further address");
  Peer& visitor = another_peer();
  const auto astray = visitor.connect(own.with_port(port));
  if (astray) visitor.send(mpa_request());
  expect_none(connect_request());
  // Another listener of the same host may have this port at the other address.
  advise_that(!astray, "no connection to the other address", "a connection");
}

CASES_OF_FILE(verbs, connections)

}  // namespace suite::cases
