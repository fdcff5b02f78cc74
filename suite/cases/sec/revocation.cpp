// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 section 8.1.1, RFC 5041 section 8.2, RFC 5042 sections 6.2 and 6.3: memory that is
// deregistered, invalidated or unbound is not accessible.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

constexpr std::uint64_t half = 200;  ///< of the message under way

/// The second half of a Write whose first half was sent before its STag was revoked.
void expect_rest_refused(Body& body, const Fpdu& rest, const Region& region) {
  body.peer.send(rest);
  body.expect(body.peer, any_terminate() | torn_down(), "ddp.security.rnic-revocation-effective");
  const Octets now = body.iut.read_memory(region);
  body.expect_that(std::equal(now.begin() + half, now.end(), region.contents.begin() + half),
                   "the second half of the memory unchanged", "octets placed there",
                   "ddp.security.rnic-revocation-effective");
}

Outgoing write_in_halves(std::uint32_t stag, std::uint64_t offset) {
  return rdma_write(stag, offset, payload(2 * half)).with_segments_of(half);
}

/// The Read is refused because its STag is not valid (any more).
void expect_read_refused(Body& body, std::uint32_t stag, std::uint64_t offset) {
  body.peer.send(read_of(stag, offset, 8));
  body.expect(body.peer, any_terminate() | torn_down(), "sec.buffer.revocation-stops-reads");
}

Outgoing read_all(const Region& region) {
  return read_request({.sink_stag = 0xCAFE,
                       .sink_offset = 0x1000,
                       .length = static_cast<std::uint32_t>(region.length),
                       .source_stag = region.stag,
                       .source_offset = region.base});
}

}  // namespace

CONFORMANCE_CASE(locally_invalidated_region_refuses_writes,
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

CONFORMANCE_CASE(locally_invalidated_window_refuses_writes,
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

CONFORMANCE_CASE(sink_of_a_read_with_invalidate_refuses_later_writes,
                 rules("rdmap.security.no-write-after-revoke"), needs(capability::read_invalidate),
                 in_both_roles) {
  const auto refuses_after = [&](const char* name, bool signaled) {
    row(name, [&] {
      see_iut_send();
      const Region sink = iut.register_memory(8, access::remote_write);
      iut::PostWork command;
      command.operation = operation::read_invalidate;
      command.pieces = {{sink.handle, 0, 8}};
      command.remote_stag = 0x01020304;
      command.signaled = signaled;
      const Work read = iut.post(command);
      const auto request = expect_message(Opcode::read_request).read_request();
      peer.send(read_response(request->sink_stag, request->sink_offset, payload(8)));
      if (signaled) {
        expect(read, completes());
      } else {
        // Fenced work shows that the Read is complete (RFC 5040 section 5.5).
        const auto fenced = [](iut::PostWork& work) { work.fence = true; };
        const Work send = iut.post_send(payload(4), operation::send, fenced);
        expect(peer, message(Opcode::send, payload(4)));
        expect(send, completes());
      }
      expect(sink, holds(payload(8)));
      peer.send(rdma_write(sink.stag, sink.base, payload(8, 0x91)));
      expect(peer, any_terminate() | torn_down());
      expect(sink, holds(payload(8)));
    });
  };
  refuses_after("whose completion was seen", true);
  refuses_after("that has no completion", false);
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
  invalidate.fence = true;  // it waits for the Read, and the Send waits for it
  iut::PostWork send;
  send.operation = operation::send;
  send.pieces = {{source.handle, 0, 16}};
  const Work revoked = iut.post(invalidate), late = iut.post(send);
  peer.send(read_response(request->sink_stag, request->sink_offset, payload(8)));
  // Whether an STag without remote rights is also revoked for its owner is up to the API.
  expect(peer, any_terminate() | advisory(torn_down() | message(Opcode::send)));
  expect(read, completes());
  expect(revoked, completes());
}

CONFORMANCE_CASE(shared_stag_stays_valid_after_one_peer_invalidates_it,
                 rules("rdmap.security.shared-stag-not-invalidated"),
                 needs(capability::remote_invalidate), in_both_roles) {
  establish({.opening = true});
  Peer& other = another_peer();
  establish(other, {.endpoint = iut.create_endpoint(), .opening = true});
  // Both streams have used it, so it is shared whatever the definition (docs/disputes.md D16).
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

CONFORMANCE_CASE(unbound_window_refuses_writes, rules("ddp.security.stag-validity-mechanism"),
                 needs(capability::memory_windows), in_both_roles) {
  establish({.opening = true});
  const Region region = iut.register_memory(64, access::under_windows);
  const Window window = iut.bind_window(region, 0, 64, access::remote_write);
  peer.send(rdma_write(window.stag, window.base, payload(16)));
  expect(region, holds(payload(16)));
  iut.unbind(window);
  peer.send(rdma_write(window.stag, window.base, payload(16, 0x91)));
  expect(peer, any_terminate() | torn_down(), "ddp.security.stag-validity-mechanism");
  expect(region, holds(payload(16)));
}

CONFORMANCE_CASE(deregistration_stops_a_message_in_progress,
                 rules("ddp.security.rnic-revocation-effective")) {
  const Region region = iut.register_memory(2 * half, access::remote_write);
  const auto halves = peer.prepare(write_in_halves(region.stag, region.base));
  peer.send(halves[0]);
  iut.deregister(region);
  expect_rest_refused(*this, halves[1], region);
}

namespace {

/// An STag that is revoked while the octets of a segment arrive, which an IUT without CRCs may place
/// as they come.
void revoke_within_a_segment(Body& body, const std::function<void(const Region&)>& revoke) {
  body.establish({.request = mpa_request().with_crc(false), .opening = true});
  const Region region = body.iut.register_memory(2 * half, access::remote_write);
  const Fpdu write =
      body.peer.prepare(rdma_write(region.stag, region.base, payload(2 * half))).front();
  const Octets fpdu = encode(write, body.peer.raw().sending());
  const std::size_t first = fpdu.size() - half;
  body.peer.raw().means_to_send(write.ulpdu);
  body.peer.send_octets(rnic::wire::Bytes(fpdu).first(first));
  body.expect(body.peer.raw(), silence(), "ddp.security.rnic-revocation-effective");
  revoke(region);
  body.peer.send_octets(rnic::wire::Bytes(fpdu).subspan(first));
  body.expect(body.peer, any_terminate() | torn_down(), "ddp.security.rnic-revocation-effective");
  const Octets now = body.iut.read_memory(region);
  body.expect_that(std::equal(now.end() - 100, now.end(), region.contents.end() - 100),
                   "the end of the memory unchanged", "octets placed there",
                   "ddp.security.rnic-revocation-effective");
}

}  // namespace

CONFORMANCE_CASE(deregistration_stops_a_segment_in_progress,
                 rules("ddp.security.rnic-revocation-effective"), configured({.crc = false})) {
  revoke_within_a_segment(*this, [&](const Region& region) { iut.deregister(region); });
}

CONFORMANCE_CASE(local_invalidation_stops_a_segment_in_progress,
                 rules("ddp.security.rnic-revocation-effective"), configured({.crc = false}),
                 needs(capability::local_invalidate)) {
  revoke_within_a_segment(*this, [&](const Region& region) { iut.invalidate(region.stag); });
}

CONFORMANCE_CASE(local_invalidation_stops_a_message_in_progress,
                 rules("ddp.security.rnic-revocation-effective"),
                 needs(capability::local_invalidate), in_both_roles) {
  establish({.opening = true});
  const Region region = iut.register_memory(2 * half, access::remote_write);
  const auto halves = peer.prepare(write_in_halves(region.stag, region.base));
  peer.send(halves[0]);
  iut.invalidate(region.stag);
  expect_rest_refused(*this, halves[1], region);
}

CONFORMANCE_CASE(unbinding_stops_a_message_in_progress,
                 rules("ddp.security.rnic-revocation-effective"),
                 needs(capability::memory_windows)) {
  establish({.opening = true});
  const Region region = iut.register_memory(2 * half, access::under_windows);
  const Window window = iut.bind_window(region, 0, 2 * half, access::remote_write);
  const auto halves = peer.prepare(write_in_halves(window.stag, window.base));
  peer.send(halves[0]);
  iut.unbind(window);
  expect_rest_refused(*this, halves[1], region);
}

CONFORMANCE_CASE(deregistered_region_refuses_reads, rules("sec.buffer.revocation-stops-reads")) {
  const Region region = iut.register_memory(64, access::remote_read);
  peer.send(read_of(region.stag, region.base, 8));
  expect(peer, message(Opcode::read_response));
  iut.deregister(region);
  expect_read_refused(*this, region.stag, region.base);
}

CONFORMANCE_CASE(locally_invalidated_region_refuses_reads,
                 rules("sec.buffer.revocation-stops-reads"), needs(capability::local_invalidate)) {
  row("asked for afterwards", [&] {
    establish({.opening = true});
    const Region region = iut.register_memory(64, access::remote_read);
    iut.invalidate(region.stag);
    expect_read_refused(*this, region.stag, region.base);
  });
  row("in the middle of a Response", [&] {
    establish({.opening = true});
    // Its own work may wait behind the Response.
    const iut::Handle free = iut.create_endpoint();
    establish(another_peer(), {.endpoint = free, .opening = true});
    Region region = iut.register_memory(much_data().size(), access::remote_read);
    peer.stall();
    peer.send(read_all(region));
    watch();
    iut.invalidate(region.stag, free);
    // What the RNIC had taken before may still be sent, but should not be read anew. An advisory,
    // since the MUST of RFC 5041 section 8.3.1 is about buffers that are modified
    // (docs/disputes.md D99).
    const std::byte later{0x11};
    iut.write_memory(region, Octets(1, later), region.length - 1);
    peer.resume();
    const Arrival arrival = peer.raw().next(context().deadline);
    const auto* response = arrival.as<Message>();
    const bool whole = response != nullptr && response->opcode() == Opcode::read_response &&
                       !response->cut_off && !response->payload.empty();
    advise_that(!whole || response->payload.back() != later,
                "no octets from after the invalidation", arrival.text());
  });
}

CONFORMANCE_CASE(unbound_window_refuses_reads, rules("sec.buffer.revocation-stops-reads"),
                 needs(capability::memory_windows), in_both_roles) {
  establish({.opening = true});
  const Region region = iut.register_memory(64, access::under_windows);
  const Window window = iut.bind_window(region, 0, 64, access::remote_read);
  peer.send(read_of(window.stag, window.base, 8));
  expect(peer, message(Opcode::read_response));
  iut.unbind(window);
  expect_read_refused(*this, window.stag, window.base);
}

CONFORMANCE_CASE(window_invalidated_by_the_peer_refuses_writes,
                 rules("sec.buffer.revocation-stops-writes"),
                 needs(capability::memory_windows, capability::remote_invalidate)) {
  establish({.opening = true});
  const Region region = iut.register_memory(64, access::under_windows);
  const Window window = iut.bind_window(region, 0, 64, access::remote_write);
  const Work receive = iut.post_receive(16);
  peer.send(send_invalidate(window.stag, payload(8)));
  expect(receive, completes().with_length(8));
  peer.send(rdma_write(window.stag, window.base, payload(16)));
  watch();
  expect(region, unchanged);
}

CASES_OF_FILE(sec, revocation)

}  // namespace suite::cases
