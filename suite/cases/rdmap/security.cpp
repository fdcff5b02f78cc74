// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 section 8.1.1: what an RNIC owes its consumers in the way of security.
#include <algorithm>

#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

constexpr std::size_t sample = 64;  ///< registrations that are looked at

Outgoing read_all(const Region& region) {
  return read_request({.sink_stag = 0xCAFE,
                       .sink_offset = 0x1000,
                       .length = static_cast<std::uint32_t>(region.length),
                       .source_stag = region.stag,
                       .source_offset = region.base});
}

std::vector<std::uint32_t> stags_of_many(Consumer& iut) {
  std::vector<std::uint32_t> stags(sample);
  std::ranges::generate(stags, [&] { return iut.register_memory(64, access::remote_read).stag; });
  return stags;
}

/// Whether the endpoint's completion queue overflowed, as far as a consumer or its peer can tell.
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

CONFORMANCE_CASE(locally_invalidated_region_takes_no_write,
                 rules("rdmap.security.no-write-after-revoke"), needs(capability::local_invalidate),
                 in_both_roles) {
  establish({.opening = true});
  const Region region = iut.register_memory(64, access::remote_write);
  peer.send(rdma_write(region.stag, region.base, payload(16)));
  expect(region, holds(payload(16)));
  iut.invalidate(region.stag);
  peer.send(rdma_write(region.stag, region.base, payload(16, 0x91)));
  expect(peer, any_terminate() | torn_down(), "rdmap.security.no-write-after-revoke");
  expect(region, holds(payload(16)));
}

CONFORMANCE_CASE(locally_invalidated_window_takes_no_write,
                 rules("rdmap.security.no-write-after-revoke"),
                 needs(capability::local_invalidate, capability::memory_windows)) {
  establish({.opening = true});
  const Region region = iut.register_memory(64, access::under_windows);
  const Window window = iut.bind_window(region, 0, 64, access::remote_write);
  iut.invalidate(window.stag);
  peer.send(rdma_write(window.stag, window.base, payload(16)));
  expect(peer, any_terminate() | torn_down(), "rdmap.security.no-write-after-revoke");
  expect(region, unchanged);
}

CONFORMANCE_CASE(sink_of_a_read_with_invalidate_takes_no_write_afterwards,
                 rules("rdmap.security.no-write-after-revoke"), needs(capability::read_invalidate),
                 in_both_roles) {
  see_iut_send();
  const Region sink = iut.register_memory(8, access::remote_write);
  iut::PostWork command;
  command.operation = operation::read_invalidate;
  command.pieces = {{sink.handle, 0, 8}};
  command.remote_stag = 0x01020304;
  const Work read = iut.post(command);
  const auto request = expect_message(Opcode::read_request).read_request();
  peer.send(read_response(request->sink_stag, request->sink_offset, payload(8)));
  expect(read, completes());
  expect(sink, holds(payload(8)));
  peer.send(rdma_write(sink.stag, sink.base, payload(8, 0x91)));
  expect(peer, any_terminate() | torn_down());
  expect(sink, holds(payload(8)));
}

CONFORMANCE_CASE(send_from_an_stag_invalidated_before_it_is_an_error,
                 rules("rdmap.error.local-error-terminate"), needs(capability::local_invalidate),
                 in_both_roles) {
  see_iut_send();
  const Region source = iut.register_memory(16);
  const Work read = iut.post_read(8, 0x01020304, 0x1000);
  const auto request = expect_message(Opcode::read_request).read_request();
  iut::PostWork invalidate;
  invalidate.operation = operation::local_invalidate;
  invalidate.invalidate_stag = source.stag;
  invalidate.fence = true;  // so that it waits for the Read, and the Send behind it
  iut::PostWork send;
  send.operation = operation::send;
  send.pieces = {{source.handle, 0, 16}};
  const Work revoked = iut.post(invalidate), late = iut.post(send);
  peer.send(read_response(request->sink_stag, request->sink_offset, payload(8)));
  // How far an STag without remote rights is revoked for its owner, too, is up to the API.
  expect(peer, any_terminate() | advisory(torn_down() | message(Opcode::send)));
  expect(read, completes());
  expect(revoked, completes());
}

CONFORMANCE_CASE(shared_stag_outlives_the_invalidation_of_one_peer,
                 rules("rdmap.security.shared-stag-not-invalidated"),
                 needs(capability::remote_invalidate), in_both_roles) {
  establish({.opening = true});
  Peer& other = another_peer();
  establish(other, {.endpoint = iut.create_endpoint(), .opening = true});
  // Both streams use it before: it is shared whatever one calls so (docs/disputes.md D16).
  const Region region = iut.register_memory(64, access::remote_read);
  peer.send(read_all(region));
  expect(peer, message(Opcode::read_response, region.contents));
  other.send(read_all(region));
  expect(other, message(Opcode::read_response, region.contents));
  const Work receive = iut.post_receive(16);
  peer.send(send_invalidate(region.stag, payload(8)));
  watch();
  other.send(read_all(region));
  expect(other, message(Opcode::read_response, region.contents),
         "rdmap.security.shared-stag-not-invalidated");
}

CONFORMANCE_CASE(stags_are_no_arithmetic_sequence, rules("rdmap.security.stag-unpredictable")) {
  const std::vector<std::uint32_t> stags = stags_of_many(iut);
  const std::uint32_t step = stags[1] - stags[0];
  const bool counted = std::ranges::adjacent_find(stags, [&](std::uint32_t a, std::uint32_t b) {
                         return b - a != step;
                       }) == stags.end();
  expect_that(!counted, "more than one difference from STag to STag",
              fmt::format("{} STags from {:#010x} on, each {:#x} above the one before",
                          stags.size(), stags.front(), step));
}

CONFORMANCE_CASE(stags_are_spread_over_the_range, rules("rdmap.security.stag-sparse")) {
  const std::vector<std::uint32_t> stags = stags_of_many(iut);
  const auto [lowest, highest] = std::ranges::minmax(stags);
  // Random ones lie within a sixteenth of the range in no run that anybody will ever see.
  constexpr std::uint32_t sixteenth = 1U << 28;
  advise_that(highest - lowest >= sixteenth, "STags from more than a sixteenth of the range",
              fmt::format("{} STags from {:#010x} to {:#010x}", stags.size(), lowest, highest));
}

CONFORMANCE_CASE(overflow_of_a_completion_queue_leaves_other_streams_alone,
                 rules("rdmap.security.cq-overflow-isolated", "sec.cq.overflow-confined"),
                 needs(capability::completion_overflow), in_both_roles, deadline_of(20s)) {
  constexpr std::uint32_t asked = 4, messages = 256;  // since an RNIC may give more than asked
  constexpr iut::WorkId first_work = 1000;
  establish({.opening = true});
  iut::CreateEndpoint small;
  small.receive_depth = messages;
  small.completion_depth = asked;
  const iut::Handle endpoint = iut.create_endpoint(small);
  Peer& other = another_peer();
  establish(other, {.endpoint = endpoint, .opening = true});
  const Region buffer = iut.register_memory(8);  // of all of them, whatever it holds afterwards
  for (std::uint32_t i = 0; i < messages; ++i)
    iut.call(iut::PostReceive{endpoint, 0, first_work + i, {{buffer.handle, 0, 8}}},
             "post a receive");
  for (std::uint32_t i = 0; i < messages && other.is_open(); ++i)
    other.send(send_message(payload(8)));
  if (!overflowed(*this, other, endpoint))
    stop(Verdict::inconclusive, "nothing shows that the completion queue overflowed");
  const Work receive = iut.post_receive(16);
  peer.send(send_message(payload(8)));
  expect(receive, completes().with_length(8), "rdmap.security.cq-overflow-isolated");
  expect_still_working("sec.cq.overflow-confined");
}

CONFORMANCE_CASE(buffer_is_open_from_registration_to_deregistration,
                 rules("rdmap.security.buffer-association-mechanism",
                       "ddp.security.rnic-association-mechanism",
                       "rdmap.security.access-within-buffer"),
                 in_both_roles) {
  const auto open_a_buffer_and_its_neighbour = [&] {
    const Region region = iut.register_memory(64, access::remote_read_write);
    peer.send(rdma_write(region.stag, region.base, payload(64)));
    peer.send(read_of(region.stag, region.base, 64));
    expect(peer, message(Opcode::read_response, payload(64)),
           "rdmap.security.buffer-association-mechanism");
    const Region neighbour = iut.register_memory(64, access::remote_read_write);
    iut.deregister(region);
    // Another buffer stays open.
    peer.send(read_of(neighbour.stag, neighbour.base, 64));
    expect(peer, message(Opcode::read_response, neighbour.contents),
           "ddp.security.rnic-association-mechanism");
    return std::pair(region, neighbour);
  };
  row("what is closed stays closed", [&] {
    const auto [region, neighbour] = open_a_buffer_and_its_neighbour();
    peer.send(rdma_write(region.stag, region.base, payload(1)));
    expect(peer, any_terminate() | torn_down(), "rdmap.security.buffer-association-mechanism");
    expect(neighbour, unchanged, "rdmap.security.buffer-association-mechanism");
  });
  row("what is open ends at its bounds", [&] {
    const auto [region, neighbour] = open_a_buffer_and_its_neighbour();
    peer.send(rdma_write(neighbour.stag, neighbour.base + 60, payload(8)));
    expect(peer, any_terminate() | torn_down(), "rdmap.security.access-within-buffer");
    // What lies within may be in place.
    const Octets seen = part_of(iut.read_memory(neighbour), 0, 60);
    expect_that(seen == part_of(neighbour.contents, 0, 60), "the octets before it unchanged",
                "others", "rdmap.security.access-within-buffer");
  });
}

CONFORMANCE_CASE(rights_are_those_that_were_granted,
                 rules("rdmap.security.access-rights-mechanism"), in_both_roles) {
  struct Grant {
    const char* name;
    iut::Access access;
  };
  const Grant grants[] = {
      {"none", access::local}, {"reading", access::remote_read}, {"writing", access::remote_write}};
  for (const Grant& grant : grants) {
    for (const bool writes : {true, false}) {
      row(fmt::format("{} by a peer granted {}", writes ? "a Write" : "a Read", grant.name), [&] {
        const Region region = iut.register_memory(16, grant.access);
        peer.send(writes ? rdma_write(region.stag, region.base, payload(16))
                         : read_of(region.stag, region.base, 16));
        const bool granted = writes ? grant.access.remote_write : grant.access.remote_read;
        if (!granted)
          expect(peer, any_terminate() | torn_down());
        else if (!writes)
          expect(peer, message(Opcode::read_response, region.contents));
        if (granted && writes)
          expect(region, holds(payload(16)));
        else
          expect_that(iut.read_memory(region) == region.contents, "memory unchanged", "not so");
      });
    }
  }
}

CASES_OF_FILE(rdmap, security)

}  // namespace suite::cases
