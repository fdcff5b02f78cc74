// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5042 sections 5 and 6.4: many peers, peers that stop in the middle of startup, and queues
// that overflow do not harm other streams.
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/framework/long_work.hpp"

namespace suite::cases {

namespace {

constexpr int crowd = 16;

/// Opens this many connections and sends the beginning of a Request on each.
void open_half(Body& body, std::size_t octets_of_request) {
  const Octets request = mpa_request().encode();
  std::vector<Peer*> halted;
  for (int i = 0; i < crowd; ++i) {
    halted.push_back(&body.another_peer());
    body.expect_that(halted.back()->connect(body.iut_address()).has_value(), "a connection", "none",
                     "mpa.startup.acceptable-request-accepted");
  }
  if (octets_of_request == 0) return;
  // A later connection that comes up shows that the half-open ones were accepted. Faults with
  // octets that arrive while a connection is being accepted are found by
  // request_in_pieces_is_put_together.
  body.establish(body.another_peer(), {.endpoint = body.iut.create_endpoint(),
                                       .judged_by = "mpa.startup.acceptable-request-accepted"});
  for (Peer* peer : halted) peer->send_octets(wire::Bytes(request).first(octets_of_request));
}

/// Whether the endpoint's completion queue overflowed, as far as its consumer or peer can see.
bool overflowed(Body& body, Peer& other, iut::Handle endpoint) {
  const auto window = body.environment().quiet_window;
  const auto told = body.iut.take(
      [&](const iut::Event& event) {
        const auto* asynchronous = std::get_if<iut::AsynchronousEvent>(&event);
        const auto* ended = std::get_if<iut::DisconnectedEvent>(&event);
        return (asynchronous != nullptr && asynchronous->endpoint == endpoint) ||
               (ended != nullptr && ended->endpoint == endpoint);
      },
      body.context().loop.now() + window);
  if (told) return true;
  const Arrival arrival = other.next(body.context().loop.now() + window);
  return arrival.is_end() || arrival.terminate().has_value();
}

}  // namespace

CONFORMANCE_CASE(stalled_startups_do_not_delay_others,
                 rules("mpa.startup.acceptable-request-accepted"), deadline_of(20s)) {
  for (const std::size_t octets : {0UZ, 1UZ, 16UZ, 19UZ}) {
    row(fmt::format("{} octets of a Request", octets), [&] {
      open_half(*this, octets);
      establish({.judged_by = "mpa.startup.acceptable-request-accepted"});
      expect_still_working("mpa.startup.acceptable-request-accepted");
    });
  }
}

CONFORMANCE_CASE(short_lived_connections_leak_no_resources,
                 rules("mpa.startup.acceptable-request-accepted"), deadline_of(20s)) {
  for (int i = 0; i < 4 * crowd; ++i) {
    Peer& visitor = another_peer();
    expect_that(visitor.connect(iut_address()).has_value(), "a connection", "none");
    if (i % 3 != 0) visitor.send_octets(wire::Bytes(mpa_request().encode()).first(10));
    if (i % 2 != 0)
      visitor.reset();
    else
      visitor.half_close();
  }
  establish({.judged_by = "mpa.startup.acceptable-request-accepted"});
  expect_still_working();
}

CONFORMANCE_CASE(overflow_of_a_completion_queue_does_not_affect_other_streams,
                 rules("rdmap.security.cq-overflow-isolated", "sec.cq.overflow-confined"),
                 needs(capability::completion_overflow), in_both_roles, deadline_of(20s)) {
  establish({.opening = true});
  Peer& other = another_peer();
  const iut::Handle endpoint = overflow_completion_queue(*this, other);
  if (!overflowed(*this, other, endpoint))
    stop(Verdict::inconclusive, "nothing shows that the completion queue overflowed");
  const Work receive = iut.post_receive(16);
  peer.send(send_message(payload(8)));
  expect(receive, completes().with_length(8), "rdmap.security.cq-overflow-isolated");
  expect_still_working("sec.cq.overflow-confined");
}

CONFORMANCE_CASE(overflow_of_a_completion_queue_does_not_affect_shared_receive_queues,
                 rules("rdmap.security.cq-overflow-isolated"),
                 needs(capability::completion_overflow, capability::shared_receive_queue),
                 deadline_of(20s)) {
  const iut::Handle queue = iut.create_shared_queue(4);
  establish({.endpoint = iut.create_endpoint({.shared_queue = queue}), .opening = true});
  const Region source = iut.register_memory(64, access::remote_read);
  Peer& other = another_peer();
  const iut::Handle endpoint = overflow_completion_queue(*this, other);
  if (!overflowed(*this, other, endpoint))
    stop(Verdict::inconclusive, "nothing shows that the completion queue overflowed");
  peer.send(read_of(source.stag, source.base, 64));
  expect(peer, message(Opcode::read_response, source.contents),
         "rdmap.security.cq-overflow-isolated");
}

CASES_OF_FILE(sec, resource_exhaustion)

}  // namespace suite::cases
