// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5041 section 7.1: the five checks of a tagged segment,
// and the Terminate that follows each (section 7.2).
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

CONFORMANCE_CASE(write_to_an_unknown_stag_is_rejected,
                 rules("ddp.tagged.check-stag-valid", "ddp.terminate.tagged-invalid-stag",
                       "ddp.terminate.placement-ceases"),
                 in_both_roles) {
  const Region region = iut.register_memory(4096, access::remote_write);
  peer.send(rdma_write(region.stag_with_other_key(), region.base, payload(16)));
  expect_rejection({cause::ddp_tagged_invalid_stag}, "ddp.tagged.check-stag-valid",
                   "ddp.terminate.tagged-invalid-stag");
  expect(region, unchanged, "ddp.terminate.placement-ceases");
}

CONFORMANCE_CASE(write_to_a_deregistered_stag_is_rejected,
                 rules("sec.buffer.revocation-stops-writes", "ddp.terminate.tagged-invalid-stag")) {
  const Region region = iut.register_memory(4096, access::remote_write);
  iut.deregister(region);
  peer.send(rdma_write(region.stag, region.base, payload(16)));
  expect_rejection({cause::ddp_tagged_invalid_stag}, "sec.buffer.revocation-stops-writes",
                   "ddp.terminate.tagged-invalid-stag");
}

CONFORMANCE_CASE(write_without_the_access_right_is_rejected,
                 rules("ddp.tagged.check-stag-allows-placement",
                       "ddp.terminate.tagged-invalid-stag")) {
  const Region region = iut.register_memory(4096, access::remote_read);
  peer.send(rdma_write(region.stag, region.base, payload(16)));
  // DDP has no code of its own for this (docs/disputes.md D3).
  expect_rejection({cause::ddp_tagged_invalid_stag, cause::rdmap_access_rights},
                   "ddp.tagged.check-stag-allows-placement", "ddp.terminate.tagged-invalid-stag");
  expect(region, unchanged, "ddp.tagged.check-stag-allows-placement");
}

CONFORMANCE_CASE(write_to_an_stag_of_another_domain_is_rejected,
                 rules("ddp.terminate.tagged-stag-not-associated")) {
  const Region region = iut.register_memory(4096, access::remote_write, 0xA5, iut.create_domain());
  peer.send(rdma_write(region.stag, region.base, payload(16)));
  // Some devices cannot distinguish such an STag from one that does not exist.
  expect_rejection(refusal::tagged_of_another_domain, "ddp.terminate.tagged-stag-not-associated",
                   "ddp.terminate.tagged-stag-not-associated");
}

CONFORMANCE_CASE(write_reaches_no_memory_of_another_domain, rules("sec.stag.pd-isolation")) {
  const Region region = iut.register_memory(4096, access::remote_write, 0xA5, iut.create_domain());
  peer.send(rdma_write(region.stag, region.base, payload(16)));
  watch();
  expect(region, unchanged);
}

CONFORMANCE_CASE(write_beyond_the_end_is_rejected,
                 rules("ddp.tagged.check-end-in-range", "ddp.terminate.tagged-base-or-bounds"),
                 in_both_roles, over_both_families) {
  for (const std::uint64_t excess : {1, 6, 16}) {
    row(fmt::format("{} octets too many", excess), [&] {
      const Region region = iut.register_memory(4096, access::remote_write);
      peer.send(rdma_write(region.stag, region.base + 4096 - 16 + excess, payload(16)));
      expect_rejection({cause::ddp_tagged_base_or_bounds}, "ddp.tagged.check-end-in-range",
                       "ddp.terminate.tagged-base-or-bounds");
      expect(region, unchanged, "ddp.tagged.check-end-in-range");
    });
  }
}

CONFORMANCE_CASE(write_one_octet_too_far_is_rejected,
                 rules("sec.buffer.octet-granular-check", "ddp.terminate.tagged-base-or-bounds")) {
  const Region region = iut.register_memory(100, access::remote_write);
  peer.send(rdma_write(region.stag, region.base + 85, payload(16)));
  expect_rejection({cause::ddp_tagged_base_or_bounds}, "sec.buffer.octet-granular-check",
                   "ddp.terminate.tagged-base-or-bounds");
}

CONFORMANCE_CASE(write_before_the_base_is_rejected,
                 rules("ddp.tagged.check-to-in-range", "ddp.terminate.tagged-base-or-bounds")) {
  for (const std::uint64_t before : {1, 8, 4096}) {
    row(fmt::format("{} octets before the base", before), [&] {
      const Region region = iut.register_memory(4096, access::remote_write);
      if (region.base < before) stop(Verdict::inconclusive, "the region begins at offset 0");
      peer.send(rdma_write(region.stag, region.base - before, payload(16)));
      expect_rejection({cause::ddp_tagged_base_or_bounds}, "ddp.tagged.check-to-in-range",
                       "ddp.terminate.tagged-base-or-bounds");
      expect(region, unchanged, "ddp.tagged.check-to-in-range");
    });
  }
}

CONFORMANCE_CASE(write_whose_offset_wraps_is_rejected,
                 rules("ddp.tagged.check-to-no-wrap", "ddp.terminate.tagged-to-wrap")) {
  const Region region = iut.register_memory(4096, access::remote_write);
  peer.send(rdma_write(region.stag, ~std::uint64_t{0} - 7, payload(16)));
  // It is out of bounds as well, and the RFC lays down no order of the checks.
  expect_rejection(refusal::tagged_wrap, "ddp.tagged.check-to-no-wrap",
                   "ddp.terminate.tagged-to-wrap");
  expect(region, unchanged, "ddp.tagged.check-to-no-wrap");
}

CONFORMANCE_CASE(write_at_the_lowest_offset_is_placed, rules("ddp.tagged.placed-at-to"),
                 needs(capability::chosen_base)) {
  iut::RegisterMemory command;
  command.length = 64;
  command.access = access::remote_write;
  command.base = 0;
  const auto region = iut.try_register(command);
  if (!region) stop(Verdict::not_applicable, "the API refuses such an offset");
  const Octets before = iut.read_memory(*region);
  peer.send(rdma_write(region->stag, 0, payload(16)));
  watch();
  Octets wanted = payload(16);
  wanted.insert(wanted.end(), before.begin() + 16, before.end());
  expect_that(iut.read_memory(*region) == wanted, "the octets at the start", "others");
}

CONFORMANCE_CASE(write_just_below_the_highest_offset_is_placed,
                 rules("ddp.tagged.placed-at-to", "ddp.tagged.check-to-no-wrap",
                       "ddp.terminate.tagged-to-wrap"),
                 needs(capability::chosen_base)) {
  // The sum of TO and length may be 2^64 - 1; whether it may be 2^64 is disputed (D17).
  constexpr std::uint64_t page = 4096, last_page = ~std::uint64_t{0} - (page - 1);
  row("up to a sum of 2^64 - 1", [&] {
    const Region region = iut.register_at(last_page, page - 1, access::remote_write);
    peer.send(rdma_write(region.stag, region.base, payload(page - 1)));
    expect(region, holds(payload(page - 1)));
  });
  row("one octet too many", [&] {
    const Region region = iut.register_at(last_page, page - 1, access::remote_write);
    peer.send(rdma_write(region.stag, region.base + page - 2, payload(2)));
    expect_rejection(refusal::tagged_wrap, "ddp.tagged.check-to-no-wrap",
                     "ddp.terminate.tagged-to-wrap");
    expect(region, unchanged, "ddp.tagged.check-to-no-wrap");
  });
  row("the registration", [&] {
    const auto last = [&](std::uint64_t length) {
      iut::RegisterMemory command;
      command.region = iut.new_handle();
      command.length = length;
      command.access = access::remote_write;
      command.base = last_page;
      return iut.try_call(command, fmt::format("register {} octets", length));
    };
    const iut::Reply whole = last(page), beyond = last(page + 1);
    advise_that(whole.outcome == iut::Outcome::ok, "a region up to 2^64 - 1", whole.error);
    advise_that(beyond.outcome != iut::Outcome::ok, "none beyond", "it is accepted");
  });
}

CONFORMANCE_CASE(tagged_segment_of_another_version_is_rejected,
                 rules("ddp.terminate.tagged-invalid-version")) {
  for (const std::uint8_t version : std::initializer_list<std::uint8_t>{0, 2, 3}) {
    row(fmt::format("DV {}", version), [&] {
      const Region region = iut.register_memory(4096, access::remote_write);
      peer.send(rdma_write(region.stag, region.base, payload(16)).with_ddp_version(version));
      expect_rejection({cause::ddp_tagged_invalid_version}, "ddp.terminate.tagged-invalid-version",
                       "ddp.terminate.tagged-invalid-version");
      expect(region, unchanged);
    });
  }
}

CONFORMANCE_CASE(every_segment_of_a_message_is_checked,
                 rules("ddp.tagged.validated-before-placement",
                       "ddp.terminate.tagged-base-or-bounds")) {
  const Region region = iut.register_memory(100, access::remote_write);
  const Octets data = payload(120);
  peer.send(rdma_write(region.stag, region.base, data).with_segments_of(40));
  expect_rejection({cause::ddp_tagged_base_or_bounds}, "ddp.tagged.validated-before-placement",
                   "ddp.terminate.tagged-base-or-bounds");
  // The first two segments were right and may have been placed; no octet of the third may be.
  const Octets now = iut.read_memory(region);
  expect_that(std::equal(now.begin() + 80, now.end(), region.contents.begin() + 80),
              "octets 80 to 99 unchanged", "octets placed there");
}

CONFORMANCE_CASE(write_that_halts_within_its_bounds_is_not_placed,
                 rules("ddp.tagged.validated-before-placement",
                       "ddp.terminate.tagged-base-or-bounds"),
                 configured({.crc = false})) {
  establish({.request = mpa_request().with_crc(false)});
  const Region region = iut.register_memory(100, access::remote_write);
  const Fpdu fpdu = peer.prepare(rdma_write(region.stag, region.base, payload(120))).front();
  const Octets octets = encode(fpdu, peer.raw().sending());
  // The header says where the segment ends; what has arrived of it lies within the region.
  constexpr std::size_t come = 2 + wire::tagged_header_size + 80;
  peer.raw().means_to_send(fpdu.ulpdu);
  peer.send_octets(wire::Bytes(octets).first(come));
  watch();
  expect_that(iut.read_memory(region) == region.contents, "memory unchanged", "octets placed");
  peer.send_octets(wire::Bytes(octets).subspan(come));
  expect_rejection({cause::ddp_tagged_base_or_bounds}, "ddp.tagged.validated-before-placement",
                   "ddp.terminate.tagged-base-or-bounds");
}

CONFORMANCE_CASE(segment_without_payload_is_not_checked,
                 rules("ddp.tagged.zero-length-unchecked")) {
  for (const std::uint32_t stag : {0U, 0xDEADBEEFU}) {
    row(fmt::format("STag {:#010x}", stag), [&] {
      peer.send(rdma_write(stag, ~std::uint64_t{0}, {}));
      expect_still_working();
    });
  }
}

CONFORMANCE_CASE(write_of_exactly_the_whole_region_is_placed, rules("ddp.tagged.placed-at-to"),
                 in_both_roles) {
  const Region region = iut.register_memory(4096, access::remote_write);
  peer.send(rdma_write(region.stag, region.base, payload(4096)));
  expect(region, holds(payload(4096)));
}

CONFORMANCE_CASE(write_to_part_of_a_region_leaves_the_rest_alone,
                 rules("rdmap.write.partial-buffer", "ddp.tagged.arbitrary-initial-to")) {
  for (const std::uint64_t offset : {1, 1023, 2048, 4095}) {
    row(fmt::format("offset {}", offset), [&] {
      const Region target = iut.register_memory(4096, access::remote_write);
      peer.send(rdma_write(target.stag, target.base + offset, payload(1)));
      expect(target, holds(payload(1), offset),
             offset % 2 == 0 ? RuleRef("rdmap.write.partial-buffer")
                             : RuleRef("ddp.tagged.arbitrary-initial-to"));
    });
  }
}

CONFORMANCE_CASE(reserved_ddp_bits_of_a_tagged_segment_are_ignored,
                 rules("ddp.header.rsvd-ignored-on-receive")) {
  const Region region = iut.register_memory(64, access::remote_write);
  peer.send(rdma_write(region.stag, region.base, payload(16)).with_ddp_reserved());
  expect(region, holds(payload(16)));
}

CASES_OF_FILE(ddp, tagged_validation)

}  // namespace suite::cases
