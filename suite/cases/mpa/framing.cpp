// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5044 sections 4 and 6: FPDUs as they are sent, and as they may arrive.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

CONFORMANCE_CASE(fpdus_are_well_formed,
                 rules("mpa.framing.fpdu-layout", "mpa.framing.length-counts-ulpdu-only",
                       "mpa.framing.pad-sent-as-zero", "mpa.framing.pad-fills-to-four",
                       "mpa.segmentation.records-within-mulpdu",
                       "mpa.segmentation.mulpdu-formula-without-markers"),
                 in_both_roles, over_both_families) {
  let_iut_send();
  for (const std::size_t size : {0, 1, 2, 3, 4, 5, 6, 7, 100}) {
    const Work work = iut.post_send(payload(size));
    expect(peer, message(Opcode::send, payload(size)));
    expect(work, completes());
  }
  const Work work = iut.post_send(payload(20000));
  const auto arrival = expect(peer, message(Opcode::send, payload(20000)));
  const auto& segments = arrival.as<Message>()->segments;
  std::size_t largest = 0;
  for (const auto& ulpdu : segments) largest = std::max(largest, ulpdu.size());
  // The tester asks for no Markers, whatever the IUT asks for.
  const std::size_t limit = rnic::wire::mulpdu(peer.raw().connection().emss(), false);
  expect_that(largest <= limit, fmt::format("ULPDUs of at most {} octets", limit),
              fmt::format("{} octets", largest), "mpa.segmentation.mulpdu-formula-without-markers");
}

CONFORMANCE_CASE(length_field_counts_the_ulpdu_alone,
                 rules("mpa.framing.length-counts-ulpdu-only")) {
  let_iut_send();
  for (const std::size_t size : {1, 2, 3, 4}) {
    const Work work = iut.post_send(payload(size));
    expect(peer, message(Opcode::send, payload(size)));
  }
}

CONFORMANCE_CASE(long_messages_fill_their_fpdus,
                 rules("mpa.segmentation.ulpdus-as-large-as-possible")) {
  let_iut_send();
  const Work work = iut.post_send(payload(20000));
  const auto arrival = expect(peer, message(Opcode::send, payload(20000)));
  const auto& segments = arrival.as<Message>()->segments;
  const std::size_t limit = rnic::wire::mulpdu(peer.raw().connection().emss(), false);
  const bool full = std::all_of(segments.begin(), segments.end() - 1,
                                [&](const Octets& ulpdu) { return ulpdu.size() + 4 >= limit; });
  expect_that(
      full, "full FPDUs up to the last one",
      fmt::format("{} segments, the first of {} octets", segments.size(), segments[0].size()));
}

CONFORMANCE_CASE(fpdus_arrive_in_any_cut, rules("mpa.receive.no-dependence-on-alignment"),
                 in_both_roles) {
  for (const std::size_t octets : {1, 2, 3, 17, 100}) {
    row(fmt::format("segments of {} octets", octets), [&] {
      const Work receive = iut.post_receive(256);
      peer.send(send_message(payload(200)), Cut::every(octets));
      expect(receive, completes().with_length(200));
      expect(receive.buffer, holds(payload(200)));
    });
  }
}

CONFORMANCE_CASE(several_fpdus_arrive_in_one_segment,
                 rules("mpa.receive.ulpdu-boundaries-preserved")) {
  std::vector<Work> receives;
  for (int i = 0; i < 5; ++i) receives.push_back(iut.post_receive(64));
  peer.send_together({send_message(payload(1)), send_message(payload(2)), send_message({}),
                      send_message(payload(4)), send_message(payload(5))});
  for (std::uint32_t i = 0; i < 5; ++i)
    expect(receives[i], completes().with_length(i == 2 ? 0 : i + 1));
}

CONFORMANCE_CASE(two_fpdus_are_cut_inside_the_second_header,
                 rules("mpa.receive.no-dependence-on-alignment")) {
  const Region region = iut.register_memory(4096, access::remote_write);
  peer.send_together({rdma_write(region.stag, region.base, payload(10)),
                      rdma_write(region.stag, region.base + 10, payload(10, 9))},
                     Cut::at({33, 37}));
  Octets both = payload(10);
  const Octets second = payload(10, 9);
  both.insert(both.end(), second.begin(), second.end());
  expect(region, holds(both));
}

CONFORMANCE_CASE(content_of_the_pad_is_ignored, rules("mpa.framing.pad-content-ignored")) {
  const Work receive = iut.post_receive(64);
  peer.send(peer.prepare(send_message(payload(1))).front().with_pad(octets({0xFF, 0xFF, 0xFF})));
  expect_still_working();
  expect(receive, completes().with_length(1));
}

CONFORMANCE_CASE(pad_is_covered_by_the_crc, rules("mpa.framing.pad-checked-by-crc")) {
  const Work receive = iut.post_receive(64);
  Fpdu fpdu = peer.prepare(send_message(payload(1))).front();
  fpdu.change_after_crc = [](rnic::wire::MutableBytes octets) {
    octets[octets.size() - 5] = std::byte{1};
  };
  peer.send(fpdu);
  watch_refused_fpdu();
  expect_none(success_of(receive));
}

CONFORMANCE_CASE(fpdu_of_any_size_is_accepted,
                 rules("mpa.receive.validated-ulpdu-passed-with-length",
                       "mpa.segmentation.any-ulpdu-size-allowed")) {
  const Work receive = iut.post_receive(4096);
  peer.send(send_message(payload(300)).with_segments_of(1));
  expect(receive, completes().with_length(300));
  expect(receive.buffer, holds(payload(300)), "mpa.segmentation.any-ulpdu-size-allowed");
}

CONFORMANCE_CASE(markers_are_removed_from_received_octets,
                 rules("mpa.receive.framing-removed-before-ddp",
                       "mpa.receive.ulpdu-and-length-to-ddp"),
                 configured({.markers = true}), in_both_roles) {
  const Work receive = iut.post_receive(8192);
  const Region region = iut.register_memory(8192, access::remote_write);
  peer.send(rdma_write(region.stag, region.base, payload(5001)));
  peer.send(send_message(payload(4003)));
  expect(receive, completes().with_length(4003), "mpa.receive.ulpdu-and-length-to-ddp");
  expect(receive.buffer, holds(payload(4003)));
  expect(region, holds(payload(5001)));
}

CASES_OF_FILE(mpa, framing)

}  // namespace suite::cases
