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

CASES_OF_FILE(verbs, connections)

}  // namespace suite::cases
