// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5044 sections 3, 4.5 and 5.1: the sizes of the ULPDUs into which a long message is cut.
#include <algorithm>

#include "reference_rnic/wire/fpdu.hpp"
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

constexpr std::size_t long_message = 40000;
constexpr std::size_t smallest_mulpdu = 128;
constexpr std::size_t tiny_segment = 88;  ///< octets, of which TCP options may take some
constexpr std::size_t shrunken_emss = 700;
constexpr std::size_t emss_of_loopback = 65'483;  ///< MTU 65536, IPv4, timestamps

// The sizes of the ULPDUs of a long Send of the IUT.
std::vector<std::size_t> sizes_of_a_long_send(Body& test, RuleRef rule) {
  const Work work = test.iut.post_send(payload(long_message));
  const Arrival arrival =
      test.expect(test.peer, message(Opcode::send, payload(long_message)), rule);
  std::vector<std::size_t> sizes;
  for (const Octets& ulpdu : arrival.as<Message>()->segments) sizes.push_back(ulpdu.size());
  return sizes;
}

void expect_at_most(Body& test, const std::vector<std::size_t>& sizes, std::size_t limit,
                    RuleRef rule) {
  const std::size_t largest = std::ranges::max(sizes);
  test.expect_that(largest <= limit, fmt::format("ULPDUs of at most {} octets", limit),
                   fmt::format("{} octets", largest), rule);
}

/// The TCP segments that ULPDUs need if only whole FPDUs are packed together.
std::size_t segments_of_whole(const std::vector<std::size_t>& ulpdus, std::size_t emss) {
  std::size_t segments = 0, room = 0;
  for (const std::size_t ulpdu : ulpdus) {
    const std::size_t fpdu = rnic::wire::fpdu_size(ulpdu);
    if (fpdu > room) {
      ++segments;
      room = emss;
    }
    room -= std::min(fpdu, room);
  }
  return segments;
}

}  // namespace

CONFORMANCE_CASE(ulpdus_fit_into_a_segment,
                 rules("mpa.segmentation.mulpdu-formula-without-markers",
                       "mpa.segmentation.records-within-mulpdu",
                       "mpa.segmentation.layered-sender-computes-mulpdu"),
                 in_both_roles, over_both_families) {
  let_iut_send();
  const auto sizes = sizes_of_a_long_send(*this, "mpa.segmentation.records-within-mulpdu");
  const std::size_t limit = rnic::wire::mulpdu(peer.raw().connection().emss(), false);
  expect_at_most(*this, sizes, limit, "mpa.segmentation.mulpdu-formula-without-markers");
}

CONFORMANCE_CASE(ulpdus_with_markers_fit_into_a_segment,
                 rules("mpa.segmentation.mulpdu-formula-with-markers",
                       "mpa.segmentation.records-within-mulpdu")) {
  establish({.request = mpa_request().with_markers(true)});
  let_iut_send();
  const auto sizes = sizes_of_a_long_send(*this, "mpa.segmentation.records-within-mulpdu");
  const std::size_t limit = rnic::wire::mulpdu(peer.raw().connection().emss(), true);
  expect_at_most(*this, sizes, limit, "mpa.segmentation.mulpdu-formula-with-markers");
}

CONFORMANCE_CASE(ulpdus_of_a_long_message_are_full,
                 rules("mpa.segmentation.ulpdus-as-large-as-possible",
                       "mpa.segmentation.mulpdu-at-least-128"),
                 in_both_roles) {
  let_iut_send();
  auto sizes = sizes_of_a_long_send(*this, "mpa.segmentation.ulpdus-as-large-as-possible");
  sizes.pop_back();  // the last one holds what is left
  const std::size_t limit = rnic::wire::mulpdu(peer.raw().connection().emss(), false);
  const std::size_t least = sizes.empty() ? limit : std::ranges::min(sizes);
  // DDP may post ULPDUs of any size (3), whatever the MULPDU is, and a sender may lower its MULPDU
  // for a while (4.5), so these are only advisories.
  advise_that(least >= smallest_mulpdu, "ULPDUs of 128 octets or more",
              fmt::format("{} octets", least), "mpa.segmentation.mulpdu-at-least-128");
  advise_that(least + 4 >= limit, fmt::format("ULPDUs of about {} octets", limit),
              fmt::format("{} octets", least), "mpa.segmentation.ulpdus-as-large-as-possible");
}

CONFORMANCE_CASE(no_ulpdu_is_longer_than_64768_octets,
                 rules("mpa.segmentation.ulpdu-never-over-64768"), in_both_roles) {
  constexpr std::size_t more_than_one = 70'000;
  const auto send_one = [&] {
    const Work work = iut.post_send(payload(more_than_one));
    expect(peer, message(Opcode::send, payload(more_than_one)));
    expect(work, completes());
  };
  row("on this path", [&] {
    let_iut_send();
    send_one();
  });
  row("on a path whose EMSS is larger", [&] {
    limit_segments(emss_of_loopback);
    let_iut_send();
    if (peer.raw().connection().emss() < emss_of_loopback)
      stop(Verdict::not_applicable, "no segment of this path is so large");
    send_one();
  });
}

CONFORMANCE_CASE(read_responses_fit_into_a_segment,
                 rules("mpa.segmentation.mulpdu-formula-without-markers")) {
  Region source = iut.register_memory(long_message, access::remote_read);
  iut.write_memory(source, payload(long_message));
  peer.send(read_request({.sink_stag = 0xABCD1234,
                          .sink_offset = 0,
                          .length = long_message,
                          .source_stag = source.stag,
                          .source_offset = source.base}));
  const Message response = expect_message(Opcode::read_response);
  std::vector<std::size_t> sizes;
  for (const Octets& ulpdu : response.segments) sizes.push_back(ulpdu.size());
  expect_at_most(*this, sizes, rnic::wire::mulpdu(peer.raw().connection().emss(), false),
                 "mpa.segmentation.mulpdu-formula-without-markers");
}

CONFORMANCE_CASE(ulpdus_do_not_shrink_with_a_tiny_emss,
                 rules("mpa.segmentation.tiny-emss-keeps-floor"), in_both_roles,
                 over_both_families) {
  limit_segments(tiny_segment);
  let_iut_send();
  if (peer.raw().connection().emss() >= smallest_mulpdu)
    stop(Verdict::inconclusive, "the link does not allow so small a segment");
  const Work work = iut.post_send(payload(2000));
  const Arrival arrival = expect(peer, message(Opcode::send, payload(2000)));
  // All but the last, which holds what is left.
  const auto& ulpdus = arrival.as<Message>()->segments;
  const auto shorter = std::find_if(ulpdus.begin(), ulpdus.end() - 1, [](const Octets& ulpdu) {
    return ulpdu.size() < smallest_mulpdu;
  });
  advise_that(shorter == ulpdus.end() - 1, "ULPDUs of 128 octets or more",
              fmt::format("{} octets", shorter->size()));
  expect(work, completes());
}

CONFORMANCE_CASE(ulpdus_follow_a_shrinking_emss, rules("mpa.segmentation.mulpdu-follows-emss"),
                 in_both_roles) {
  use_spare_address();
  let_iut_send();
  const auto before = sizes_of_a_long_send(*this, "mpa.segmentation.mulpdu-follows-emss");
  if (!peer.raw().connection().change_emss(shrunken_emss))
    stop(Verdict::not_applicable, "this link cannot change the EMSS of a live connection");
  watch();  // the IUT may look at the EMSS now and then only
  const auto sizes = sizes_of_a_long_send(*this, "mpa.segmentation.mulpdu-follows-emss");
  const std::size_t limit = rnic::wire::mulpdu(shrunken_emss, false);
  // The RFC does not say when the sender must use the new value, so this is only an advisory.
  advise_that(
      std::ranges::max(sizes) <= limit, fmt::format("ULPDUs of at most {} octets", limit),
      fmt::format("{} octets, {} before", std::ranges::max(sizes), std::ranges::max(before)));
}

CONFORMANCE_CASE(tcp_segments_begin_with_an_fpdu,
                 rules("mpa.segmentation.segments-begin-with-fpdu"), over_both_families) {
  establish();
  if (!iut_is_responder())
    stop(Verdict::not_applicable, "the tester cannot make an Initiator's Sends wait");
  // Two FPDUs of this size do not fit into a segment: each needs its own.
  constexpr std::size_t count = 8;
  auto& connection = peer.raw().connection();
  const Octets data = payload(connection.emss() * 7 / 10);
  const std::uint64_t before = connection.data_segments_received();
  for (std::size_t i = 0; i < count; ++i) static_cast<void>(iut.post_send(data));
  let_iut_send();  // all can be packed together
  std::vector<std::size_t> ulpdus;
  for (std::size_t i = 0; i < count; ++i) {
    const Arrival arrival = expect(peer, message(Opcode::send, data));
    for (const Octets& ulpdu : arrival.as<Message>()->segments) ulpdus.push_back(ulpdu.size());
  }
  const std::uint64_t segments = connection.data_segments_received() - before;
  const std::size_t least = segments_of_whole(ulpdus, connection.emss());
  advise_that(segments >= least, fmt::format("{} TCP segments or more", least),
              fmt::format("{} FPDUs in {} TCP segments", ulpdus.size(), segments));
}

CASES_OF_FILE(mpa, segmentation)

}  // namespace suite::cases
