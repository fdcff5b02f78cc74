// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5042 sections 6.2 and 6.3: tampering with memory and reading what one may not.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

/// The Read is refused as one of an STag that is not valid (any more).
void expect_read_refused(Body& body, std::uint32_t stag, std::uint64_t offset) {
  body.peer.send(read_of(stag, offset, 8));
  body.expect(body.peer, any_terminate() | torn_down(), "sec.buffer.revocation-stops-reads");
}

}  // namespace

CONFORMANCE_CASE(empty_region_takes_no_write, rules("sec.buffer.no-access-outside-bounds"),
                 in_both_roles) {
  const Region region = iut.register_nothing(access::remote_write);
  peer.send(rdma_write(region.stag, region.base, payload(16)));
  expect(peer, any_terminate() | torn_down(), "sec.buffer.no-access-outside-bounds");
}

CONFORMANCE_CASE(empty_region_answers_no_read, rules("sec.buffer.no-access-outside-bounds")) {
  const Region region = iut.register_nothing(access::remote_read);
  peer.send(read_of(region.stag, region.base, 16));
  expect(peer, any_terminate() | torn_down(), "sec.buffer.no-access-outside-bounds");
}

CONFORMANCE_CASE(read_one_octet_too_far_gets_no_data, rules("sec.buffer.read-bounds-enforced"),
                 in_both_roles) {
  row("at the end", [&] {
    const Region region = iut.register_memory(100, access::remote_read);
    peer.send(read_of(region.stag, region.base + 85, 16));
    expect(peer, any_terminate() | torn_down(), "sec.buffer.read-bounds-enforced");
  });
  row("at the start", [&] {
    const Region region = iut.register_memory(100, access::remote_read);
    if (region.base == 0) stop(Verdict::inconclusive, "the region begins at offset 0");
    peer.send(read_of(region.stag, region.base - 1, 16));
    expect(peer, any_terminate() | torn_down(), "sec.buffer.read-bounds-enforced");
  });
}

CONFORMANCE_CASE(window_at_the_end_of_its_region_ends_there,
                 rules("sec.buffer.octet-granular-check"), needs(capability::memory_windows)) {
  establish({.opening = true});
  const Region region = iut.register_memory(100, access::under_windows);
  const Window window = iut.bind_window(region, 99, 1, access::remote_write);
  peer.send(rdma_write(window.stag, window.base, payload(1)));
  expect(region, holds(payload(1), 99));
  peer.send(rdma_write(window.stag, window.base, payload(2, 0x91)));
  expect(peer, any_terminate() | torn_down(), "sec.buffer.octet-granular-check");
  expect(region, holds(payload(1), 99));
}

CONFORMANCE_CASE(zero_based_region_ends_where_its_octets_end,
                 rules("sec.buffer.octet-granular-check", "ddp.tagged.placed-at-to"),
                 needs(capability::zero_based)) {
  const Region region = iut.register_zero_based(100, access::remote_write);
  expect_that(region.base == 0, "Tagged Offset 0 for the first octet",
              fmt::format("{:#x}", region.base), "ddp.tagged.placed-at-to");
  peer.send(rdma_write(region.stag, 0, payload(100)));
  expect(region, holds(payload(100)), "ddp.tagged.placed-at-to");
  peer.send(rdma_write(region.stag, 85, payload(16, 0x91)));
  expect(peer, any_terminate() | torn_down(), "sec.buffer.octet-granular-check");
}

CONFORMANCE_CASE(deregistered_region_answers_no_read, rules("sec.buffer.revocation-stops-reads")) {
  const Region region = iut.register_memory(64, access::remote_read);
  peer.send(read_of(region.stag, region.base, 8));
  expect(peer, message(Opcode::read_response));
  iut.deregister(region);
  expect_read_refused(*this, region.stag, region.base);
}

CONFORMANCE_CASE(locally_invalidated_region_answers_no_read,
                 rules("sec.buffer.revocation-stops-reads"), needs(capability::local_invalidate)) {
  establish({.opening = true});
  const Region region = iut.register_memory(64, access::remote_read);
  iut.invalidate(region.stag);
  expect_read_refused(*this, region.stag, region.base);
}

CONFORMANCE_CASE(unbound_window_answers_no_read, rules("sec.buffer.revocation-stops-reads"),
                 needs(capability::memory_windows), in_both_roles) {
  establish({.opening = true});
  const Region region = iut.register_memory(64, access::under_windows);
  const Window window = iut.bind_window(region, 0, 64, access::remote_read);
  peer.send(read_of(window.stag, window.base, 8));
  expect(peer, message(Opcode::read_response));
  iut.unbind(window);
  expect_read_refused(*this, window.stag, window.base);
}

CONFORMANCE_CASE(window_invalidated_by_the_peer_takes_no_write,
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

CASES_OF_FILE(sec, buffer)

}  // namespace suite::cases
