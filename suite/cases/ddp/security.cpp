// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5041 sections 8.1 to 8.3.1: what an STag opens, to which streams, and that it can be closed.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

constexpr std::uint64_t start = 100;  ///< of a window in its region
constexpr std::uint32_t width = 50;
constexpr std::uint64_t half = 200;  ///< of the message under way

/// Octets of the peer's address space, counted from the first one of the window.
struct Range {
  const char* name;
  std::uint64_t from;
  std::uint32_t length;
};
constexpr Range ranges_not_within[] = {{"the octet before", ~std::uint64_t{0}, 1},
                                       {"the octet behind", width, 1},
                                       {"one octet too many at the start", ~std::uint64_t{0}, 2},
                                       {"one octet too many at the end", width - 1, 2},
                                       {"the whole region", 0 - start, 256}};

/// The second half of a Write of which the first half went out before its STag was revoked.
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

}  // namespace

CONFORMANCE_CASE(window_opens_its_octets_to_writes_and_no_others,
                 rules("ddp.security.to-range-mechanism"), needs(capability::memory_windows),
                 in_both_roles) {
  for (const Range& range : ranges_not_within) {
    row(range.name, [&] {
      establish({.opening = true});
      const Region region = iut.register_memory(256, access::under_windows);
      const Window window = iut.bind_window(region, start, width, access::remote_write);
      peer.send(rdma_write(window.stag, window.base, payload(width)));
      expect(region, holds(payload(width), start));
      peer.send(rdma_write(window.stag, window.base + range.from, payload(range.length, 0x91)));
      expect(peer, any_terminate() | torn_down(), "ddp.security.to-range-mechanism");
      expect(region, holds(payload(width), start));
    });
  }
}

CONFORMANCE_CASE(window_opens_its_octets_to_reads_and_no_others,
                 rules("ddp.security.to-range-mechanism"), needs(capability::memory_windows)) {
  for (const Range& range : ranges_not_within) {
    row(range.name, [&] {
      establish({.opening = true});
      Region region = iut.register_memory(256, access::under_windows);
      iut.write_memory(region, payload(width), start);
      const Window window = iut.bind_window(region, start, width, access::remote_read);
      peer.send(read_of(window.stag, window.base, width));
      expect(peer, message(Opcode::read_response, payload(width)));
      peer.send(read_of(window.stag, window.base + range.from, range.length));
      expect(peer, any_terminate() | torn_down(), "ddp.security.to-range-mechanism");
    });
  }
}

CONFORMANCE_CASE(window_for_reading_takes_no_write,
                 rules("ddp.security.rnic-access-rights-mechanism"),
                 needs(capability::memory_windows), in_both_roles) {
  establish({.opening = true});
  const Region region = iut.register_memory(64, access::under_windows);
  const Window window = iut.bind_window(region, 0, 64, access::remote_read);
  peer.send(rdma_write(window.stag, window.base, payload(16)));
  expect(peer, any_terminate() | torn_down(), "ddp.security.rnic-access-rights-mechanism");
  expect(region, unchanged);
}

CONFORMANCE_CASE(window_for_writing_answers_no_read,
                 rules("ddp.security.rnic-access-rights-mechanism"),
                 needs(capability::memory_windows)) {
  establish({.opening = true});
  const Region region = iut.register_memory(64, access::under_windows);
  const Window window = iut.bind_window(region, 0, 64, access::remote_write);
  peer.send(read_of(window.stag, window.base, 16));
  expect(peer, any_terminate() | torn_down(), "ddp.security.rnic-access-rights-mechanism");
}

CONFORMANCE_CASE(unbound_window_takes_no_write, rules("ddp.security.stag-validity-mechanism"),
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

CONFORMANCE_CASE(deregistration_stops_a_message_under_way,
                 rules("ddp.security.rnic-revocation-effective")) {
  const Region region = iut.register_memory(2 * half, access::remote_write);
  const auto halves = peer.prepare(write_in_halves(region.stag, region.base));
  peer.send(halves[0]);
  iut.deregister(region);
  expect_rest_refused(*this, halves[1], region);
}

CONFORMANCE_CASE(local_invalidation_stops_a_message_under_way,
                 rules("ddp.security.rnic-revocation-effective"),
                 needs(capability::local_invalidate), in_both_roles) {
  establish({.opening = true});
  const Region region = iut.register_memory(2 * half, access::remote_write);
  const auto halves = peer.prepare(write_in_halves(region.stag, region.base));
  peer.send(halves[0]);
  iut.invalidate(region.stag);
  expect_rest_refused(*this, halves[1], region);
}

CONFORMANCE_CASE(unbinding_stops_a_message_under_way,
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

CONFORMANCE_CASE(write_with_an_stag_of_another_domain_is_not_placed,
                 rules("ddp.security.pd-mismatch-not-placed", "ddp.security.pd-mismatch-error"),
                 in_both_roles) {
  const Region region = iut.register_memory(64, access::remote_write, 0xA5, iut.create_domain());
  peer.send(rdma_write(region.stag, region.base, payload(16)));
  watch();
  expect(region, unchanged, "ddp.security.pd-mismatch-not-placed");
  expect(iut, asynchronous_error() | disconnected(), "ddp.security.pd-mismatch-error");
}

CONFORMANCE_CASE(write_with_an_stag_of_another_stream_is_not_placed,
                 rules("ddp.security.stream-mismatch-not-placed",
                       "ddp.security.stream-mismatch-error"),
                 needs(capability::memory_windows, capability::stream_windows), in_both_roles) {
  establish({.opening = true});
  const iut::Handle owner = iut.create_endpoint();
  establish(another_peer(), {.endpoint = owner, .opening = true});
  const Region region = iut.register_memory(64, access::under_windows);
  const Window window = iut.bind_window(region, 0, 64, access::remote_write, owner);
  peer.send(rdma_write(window.stag, window.base, payload(16)));
  watch();
  expect(region, unchanged, "ddp.security.stream-mismatch-not-placed");
  expect(iut, asynchronous_error() | disconnected(), "ddp.security.stream-mismatch-error");
}

CONFORMANCE_CASE(bounds_are_exact_whatever_the_size,
                 rules("ddp.security.octet-level-bounds", "ddp.security.rnic-bounds-enforced"),
                 in_both_roles) {
  // Around cache lines and pages.
  for (const std::uint64_t size : {1, 63, 64, 65, 100, 4095, 4096, 4097}) {
    row(fmt::format("{} octets", size), [&] {
      const Region region = iut.register_memory(size, access::remote_read_write);
      peer.send(rdma_write(region.stag, region.base, payload(size)));
      expect(region, holds(payload(size)), "ddp.security.octet-level-bounds");
      peer.send(rdma_write(region.stag, region.base + size - 1, payload(2, 0x91)));
      expect(peer, any_terminate() | torn_down(), "ddp.security.octet-level-bounds");
      expect_that(iut.read_memory(region) == payload(size), "memory as it was", "octets placed",
                  "ddp.security.rnic-bounds-enforced");
    });
  }
}

CONFORMANCE_CASE(stag_serves_the_streams_of_its_domain,
                 rules("ddp.security.pd-association-supported", "ddp.security.rnic-pd-isolation",
                       "rdmap.security.pd-isolation")) {
  iut::CreateEndpoint within;
  within.domain = iut.create_domain();
  Peer &first = another_peer(), &second = another_peer();
  establish(first, {.endpoint = iut.create_endpoint(within), .opening = true});
  establish(second, {.endpoint = iut.create_endpoint(within), .opening = true});
  const Region region = iut.register_memory(16, access::remote_read, 0xA5, within.domain);
  for (Peer* of_the_domain : {&first, &second}) {
    of_the_domain->send(read_of(region.stag, region.base, 16));
    expect(*of_the_domain, message(Opcode::read_response, region.contents),
           "ddp.security.pd-association-supported");
  }
  peer.send(read_of(region.stag, region.base, 16));
  expect(peer, any_terminate() | torn_down(), "ddp.security.rnic-pd-isolation");
  second.send(read_of(region.stag, region.base, 16));
  expect(second, message(Opcode::read_response, region.contents), "rdmap.security.pd-isolation");
}

CONFORMANCE_CASE(each_stream_has_windows_of_its_own,
                 rules("ddp.security.stream-association-supported",
                       "ddp.security.stag-stream-mechanism", "ddp.security.rnic-stream-isolation",
                       "rdmap.security.stream-scoped-stag"),
                 needs(capability::memory_windows, capability::stream_windows)) {
  establish({.opening = true});
  const iut::Handle elsewhere = iut.create_endpoint();
  Peer& other = another_peer();
  establish(other, {.endpoint = elsewhere, .opening = true});
  const Region region = iut.register_memory(64, access::under_windows);
  const Window ours = iut.bind_window(region, 0, 16, access::remote_write);
  const Window theirs = iut.bind_window(region, 32, 16, access::remote_read, elsewhere);
  peer.send(rdma_write(ours.stag, ours.base, payload(16)));
  expect(region, holds(payload(16)), "ddp.security.stream-association-supported");
  other.send(read_of(theirs.stag, theirs.base, 16));
  expect(other, message(Opcode::read_response, part_of(region.contents, 32, 16)),
         "ddp.security.stag-stream-mechanism");
  peer.send(read_of(theirs.stag, theirs.base, 16));
  expect(peer, any_terminate() | torn_down(), "ddp.security.rnic-stream-isolation");
  other.send(read_of(theirs.stag, theirs.base, 16));
  expect(other, message(Opcode::read_response, part_of(region.contents, 32, 16)),
         "rdmap.security.stream-scoped-stag");
}

CASES_OF_FILE(ddp, security)

}  // namespace suite::cases
