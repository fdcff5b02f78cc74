// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5041 section 8.2, RFC 5042 sections 6.2 and 6.3: regions and windows are bounded to the
// octet.
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/sec/window_steps.hpp"

namespace suite::cases {

namespace {

constexpr std::uint64_t start = 100;  ///< of a window in its region
constexpr std::uint32_t width = 50;

/// Octets of the peer's address space, counted from the first one of the window.
struct Range {
  const char* name;
  std::uint64_t from;
  std::uint32_t length;
};
constexpr Range ranges_not_within[] = {{"the octet before", ~std::uint64_t{0}, 1},
                                       {"the octet after", width, 1},
                                       {"one octet too many at the start", ~std::uint64_t{0}, 2},
                                       {"one octet too many at the end", width - 1, 2},
                                       {"the whole region", 0 - start, 256}};

}  // namespace

CONFORMANCE_CASE(empty_region_refuses_writes, rules("sec.buffer.no-access-outside-bounds"),
                 in_both_roles) {
  const Region region = iut.register_nothing(access::remote_write);
  peer.send(rdma_write(region.stag, region.base, payload(16)));
  expect(peer, any_terminate() | torn_down(), "sec.buffer.no-access-outside-bounds");
}

CONFORMANCE_CASE(empty_region_refuses_reads, rules("sec.buffer.no-access-outside-bounds")) {
  const Region region = iut.register_nothing(access::remote_read);
  peer.send(read_of(region.stag, region.base, 16));
  expect(peer, any_terminate() | torn_down(), "sec.buffer.no-access-outside-bounds");
}

CONFORMANCE_CASE(read_one_octet_too_far_returns_no_data, rules("sec.buffer.read-bounds-enforced"),
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

CONFORMANCE_CASE(window_does_not_reach_beyond_its_region,
                 rules("sec.buffer.no-access-outside-bounds"), needs(capability::memory_windows)) {
  for (const std::uint32_t excess : {1U, 4096U})
    row(fmt::format("{} octets too long", excess), [&] {
      establish({.opening = true});
      const Region region = iut.register_memory(100, access::under_windows);
      expect_not_opened(*this, {region.handle, start - 1, excess + 1}, region.base + start,
                        "sec.buffer.no-access-outside-bounds");
    });
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

CONFORMANCE_CASE(window_of_a_zero_based_region_begins_at_its_octet,
                 rules("ddp.tagged.placed-at-to", "ddp.security.to-range-mechanism"),
                 needs(capability::memory_windows, capability::zero_based)) {
  establish({.opening = true});
  const Region region = iut.register_zero_based(256, access::under_windows);
  const Window window = iut.bind_window(region, start, width, access::remote_write);
  peer.send(rdma_write(window.stag, window.base, payload(width)));
  expect(region, holds(payload(width), start), "ddp.tagged.placed-at-to");
  peer.send(rdma_write(window.stag, window.base - 1, payload(2, 0x91)));
  expect(peer, any_terminate() | torn_down(), "ddp.security.to-range-mechanism");
  expect(region, holds(payload(width), start));
}

CONFORMANCE_CASE(window_opens_only_its_own_octets_to_writes,
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

CONFORMANCE_CASE(window_opens_only_its_own_octets_to_reads,
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

CASES_OF_FILE(sec, bounds)

}  // namespace suite::cases
