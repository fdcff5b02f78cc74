// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A peer that conforms for a while and then does one thing wrong in the middle of transfers: the
// IUT detects it, and its memory stays unchanged.
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/rdmap/transfer_steps.hpp"

namespace suite::cases {

namespace {

/// A partner with which transfers of each kind have succeeded.
StreamPeer& trusted_partner(Body& test, const Partner& terms = {}) {
  StreamPeer& partner = test.connect_partner(terms);
  PayloadGenerator generator(71);
  for (int i = 0; i < 3; ++i) {
    write_to_iut(test, partner, generator.octets(5000));
    send_to_iut(test, partner, generator.octets(5000));
    send_from_iut(test, partner, generator.octets(5000));
    read_from_iut(test, partner, generator.octets(5000));
  }
  partner.skip_arrivals();
  return partner;
}

}  // namespace

CONFORMANCE_CASE(crc_that_turns_wrong_changes_no_memory, rules("mpa.crc.mismatch-invalidates-fpdu"),
                 in_both_roles, over_both_families) {
  StreamPeer& partner = trusted_partner(*this);
  const Region region = iut.register_memory(5000, access::remote_write);
  const Work receive = iut.post_receive(5000);
  partner.deviate(Deviation::sends_bad_crc);
  partner.write(PayloadGenerator(72).octets(1000), region.stag, region.base);
  partner.send(PayloadGenerator(72).octets(1000));
  watch(partner);
  partner.reset();
  expect(region, unchanged);
  expect_none(success_of(receive));
}

CONFORMANCE_CASE(crc_that_leaves_markers_out_changes_no_memory,
                 rules("mpa.crc.mismatch-invalidates-fpdu"), in_both_roles,
                 configured({.markers = true})) {
  StreamPeer& partner = trusted_partner(*this);
  const Region region = iut.register_memory(5000, access::remote_write);
  partner.deviate(Deviation::crc_excludes_markers);
  partner.write(PayloadGenerator(73).octets(1200), region.stag, region.base);
  watch(partner);
  partner.reset();
  expect(region, unchanged);
}

CONFORMANCE_CASE(msn_that_skips_is_rejected,
                 rules("ddp.untagged.check-msn-in-range", "ddp.terminate.untagged-msn-range",
                       "ddp.untagged.msn-increments-per-message"),
                 in_both_roles) {
  StreamPeer& partner = trusted_partner(*this);
  const Work right = iut.post_receive(100), wrong = iut.post_receive(100);
  partner.deviate(Deviation::msn_incremented_by_two);
  partner.send(payload(50));
  expect(right, completes().with_length(50), "ddp.untagged.msn-increments-per-message");
  partner.send(payload(60));
  expect_rejection(partner, refusal::msn_out_of_range.causes, "ddp.untagged.check-msn-in-range",
                   "ddp.terminate.untagged-msn-range");
  expect(wrong, completes_in_error(), "ddp.untagged.check-msn-in-range");
}

CONFORMANCE_CASE(offset_that_leaves_the_receive_is_rejected,
                 rules("ddp.untagged.check-end-in-range",
                       "ddp.terminate.untagged-message-too-long"),
                 in_both_roles) {
  StreamPeer& partner = trusted_partner(*this);
  const Region memory = iut.register_memory(3100);
  const Work receive = iut.post_receive({{memory.handle, 0, 3000}});
  partner.deviate(Deviation::mo_starts_at_one);
  partner.send(PayloadGenerator(74).octets(3000));
  expect_rejection(partner, {cause::ddp_untagged_message_too_long},
                   "ddp.untagged.check-end-in-range", "ddp.terminate.untagged-message-too-long",
                   {cause::ddp_untagged_invalid_offset});
  expect(receive, completes_in_error(), "ddp.untagged.check-end-in-range");
  const Octets seen = iut.read_memory(memory);
  const auto beyond = seen.begin() + 3000;
  expect_that(std::all_of(beyond, seen.end(), [](std::byte b) { return b == std::byte{0xA5}; }),
              "no octet after the receive changed", "octets changed",
              "ddp.untagged.check-end-in-range");
}

CONFORMANCE_CASE(stag_that_changes_within_a_message_is_rejected,
                 rules("ddp.tagged.check-stag-valid", "ddp.terminate.tagged-invalid-stag"),
                 in_both_roles, over_both_families) {
  StreamPeer& partner = trusted_partner(*this);
  // Two segments, whatever the MTU.
  const std::size_t first = partner.max_ulpdu() - rnic::wire::tagged_header_size;
  const Octets data = PayloadGenerator(75).octets(first + 600);
  const Region region = iut.register_memory(data.size() + 8000, access::remote_write);
  partner.deviate(Deviation::stag_changes_within_message);
  partner.write(data, region.stag, region.base);
  expect_rejection(partner, {cause::ddp_tagged_invalid_stag}, "ddp.tagged.check-stag-valid",
                   "ddp.terminate.tagged-invalid-stag");
  // The payload of the first segment may be in place or not.
  const Octets seen = iut.read_memory(region);
  const auto kept = static_cast<std::ptrdiff_t>(first);
  const bool rest_unchanged =
      std::equal(seen.begin() + kept, seen.end(), region.contents.begin() + kept);
  expect_that(rest_unchanged, "nothing placed of the segments with the other STag",
              "memory has changed", "ddp.tagged.check-stag-valid");
}

CONFORMANCE_CASE(offset_that_leaves_the_region_is_rejected,
                 rules("ddp.tagged.check-end-in-range", "ddp.terminate.tagged-base-or-bounds"),
                 in_both_roles, over_both_families) {
  StreamPeer& partner = trusted_partner(*this);
  const Region region = iut.register_memory(2000, access::remote_write);
  partner.write(PayloadGenerator(76).octets(100), region.stag, region.base + 1901);
  expect_rejection(partner, {cause::ddp_tagged_base_or_bounds}, "ddp.tagged.check-end-in-range",
                   "ddp.terminate.tagged-base-or-bounds");
  expect(region, unchanged, "ddp.tagged.check-end-in-range");
}

CONFORMANCE_CASE(version_that_changes_is_rejected,
                 rules("ddp.terminate.untagged-invalid-version",
                       "ddp.terminate.tagged-invalid-version", "rdmap.error.version-validated",
                       "rdmap.terminate.code-invalid-version"),
                 in_both_roles, deadline_of(10s)) {
  row("DDP version of a Send", [&] {
    StreamPeer& partner = trusted_partner(*this);
    const Work receive = iut.post_receive(100);
    partner.deviate(Deviation::ddp_version_two);
    partner.send(payload(50));
    expect_rejection(partner, {cause::ddp_untagged_invalid_version},
                     "ddp.terminate.untagged-invalid-version",
                     "ddp.terminate.untagged-invalid-version");
    expect(receive, completes_in_error(), "ddp.terminate.untagged-invalid-version");
  });
  row("DDP version of a Write", [&] {
    StreamPeer& partner = trusted_partner(*this);
    const Region region = iut.register_memory(100, access::remote_write);
    partner.deviate(Deviation::ddp_version_two);
    partner.write(payload(50), region.stag, region.base);
    expect_rejection(partner, {cause::ddp_tagged_invalid_version},
                     "ddp.terminate.tagged-invalid-version",
                     "ddp.terminate.tagged-invalid-version");
    expect(region, unchanged, "ddp.terminate.tagged-invalid-version");
  });
  row("RDMAP version of a Send", [&] {
    StreamPeer& partner = trusted_partner(*this);
    const Work receive = iut.post_receive(100);
    partner.deviate(Deviation::rdmap_version_two);
    partner.send(payload(50));
    expect_rejection(partner, {cause::rdmap_invalid_version}, "rdmap.error.version-validated",
                     "rdmap.terminate.code-invalid-version");
    expect(receive, completes_in_error(), "rdmap.error.version-validated");
  });
}

CONFORMANCE_CASE(nothing_is_placed_after_an_error, rules("ddp.terminate.later-segments-dropped"),
                 in_both_roles, over_both_families) {
  StreamPeer& partner = trusted_partner(*this);
  const Region region = iut.register_memory(5000, access::remote_write);
  const Work receive = iut.post_receive(100);
  partner.write(payload(10), region.stag_with_other_key(), region.base);
  partner.write(PayloadGenerator(77).octets(1000), region.stag, region.base);
  partner.send(payload(50));
  expect(partner, any_terminate() | torn_down());
  if (partner.is_open()) expect_teardown(partner);
  expect(region, unchanged);
  expect(receive, completes_in_error());
}

// ---------------------------------------------------------------- wrong Responses

CONFORMANCE_CASE(read_whose_response_goes_to_another_place_fails,
                 rules("rdmap.read.error-passed-up-and-terminated", "ddp.tagged.check-stag-valid",
                       "rdmap.terminate.control-values-defined"),
                 in_both_roles, deadline_of(10s)) {
  const auto astray = [&](Deviation deviation,
                          std::initializer_list<rnic::wire::TerminateCause> causes) {
    StreamPeer& partner = trusted_partner(*this);
    const TesterBuffer& source = partner.add_buffer(PayloadGenerator(78).octets(3000));
    read_by_iut(*this, partner, source.octets);
    partner.deviate(deviation);
    partner.skip_arrivals();
    const Work read = iut.post_read(1000, source.stag, source.base);
    static_cast<void>(expect(partner, message(Opcode::read_request)));
    expect_rejection(
        partner, causes, "ddp.tagged.check-stag-valid", "rdmap.terminate.control-values-defined",
        {cause::rdmap_invalid_stag, cause::rdmap_base_or_bounds, cause::rdmap_catastrophic_stream,
         cause::rdmap_operation_unspecified, cause::rdmap_unexpected_opcode});
    expect(read, completes_in_error());
  };
  row("to an STag that does not exist",
      [&] { astray(Deviation::read_response_wrong_stag, {cause::ddp_tagged_invalid_stag}); });
  row("eight octets further on",
      [&] { astray(Deviation::read_response_wrong_offset, {cause::ddp_tagged_base_or_bounds}); });
  row("one octet longer than the sink",
      [&] { astray(Deviation::read_response_too_long, {cause::ddp_tagged_base_or_bounds}); });
}

CONFORMANCE_CASE(response_that_comes_twice_is_rejected,
                 rules("rdmap.read.invalid-response-surfaced"), in_both_roles) {
  StreamPeer& partner = trusted_partner(*this);
  const TesterBuffer& source = partner.add_buffer(PayloadGenerator(79).octets(1000));
  partner.deviate(Deviation::read_response_twice);
  const Work read = iut.post_read(1000, source.stag, source.base);
  expect(read, completes().with_length(1000), "rdmap.read.response-delivered-to-ulp");
  static_cast<void>(expect(partner, message(Opcode::read_request)));
  expect(partner, any_terminate() | torn_down());
}

CONFORMANCE_CASE(reads_beyond_the_depth_are_not_served, rules("rdmap.resources.inbound-limit-kept"),
                 in_both_roles, deadline_of(20s)) {
  constexpr std::uint32_t length = 256 * 1024, requests = 24;
  StreamPeer& partner = trusted_partner(*this);
  const Region source = iut.register_memory(length, access::remote_read);
  const TesterBuffer& sink = partner.add_buffer(Octets(length));
  // As long as we receive nothing, no Response can be sent in full, so all Requests are
  // outstanding.
  partner.set_receive_buffer(4096);
  partner.pause_receiving(true);
  partner.deviate(Deviation::ord_exceeded);
  for (std::uint32_t i = 0; i < requests; ++i) partner.read(sink, length, source.stag, source.base);
  context().look_on(environment().quiet_window);
  partner.pause_receiving(false);
  std::uint32_t served = 0;
  Arrival arrival = partner.next(context().deadline);
  for (; arrival.message(Opcode::read_response) != nullptr && served + 1 < requests; ++served)
    arrival = partner.next(context().deadline);
  // An IUT that leaves the Requests in TCP until there is room recovers as D9 allows.
  const bool all = arrival.message(Opcode::read_response) != nullptr;
  advise_that(!all, "an error on the Request beyond the IRD", "all Requests served");
  expect_that(all || arrival.terminate().has_value() || arrival.is_end(),
              "a Terminate, or the connection torn down", arrival.text());
}

// ---------------------------------------------------------------- the end in the middle of a transfer

CONFORMANCE_CASE(connection_lost_during_a_transfer_ends_all_work,
                 rules("ddp.close.outstanding-requests-fail", "ddp.close.llp-lost-indicated"),
                 in_both_roles, deadline_of(20s)) {
  StreamPeer& partner = trusted_partner(*this);
  const TesterBuffer& buffer = partner.add_buffer(Octets(50'000));
  std::vector<Work> receives, works;
  for (int i = 0; i < 4; ++i) receives.push_back(iut.post_receive(100));
  partner.set_receive_buffer(4096);
  partner.pause_receiving(true);
  for (int i = 0; i < 8; ++i) {
    works.push_back(iut.post_write(payload(50'000), buffer.stag, buffer.base));
    works.push_back(iut.post_read(50'000, buffer.stag, buffer.base));
  }
  partner.reset();
  for (const Work& work : receives) expect(work, completes_in_error());
  for (std::size_t i = 0; i < works.size(); ++i) {
    const bool is_read = i % 2 != 0;
    if (is_read)
      expect(works[i], completes_in_error());
    else
      expect(iut, completion_of(works[i]));
  }
  expect_none(completion_of(works.back()) | completion_of(receives.back()));
  expect(iut, disconnected(), "ddp.close.llp-lost-indicated");
}

CASES_OF_FILE(rdmap, deviating_peer)

}  // namespace suite::cases
