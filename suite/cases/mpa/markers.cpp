// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5044 sections 4.2 to 4.4 and 7.1: Markers in what the IUT sends, and in what it receives.
#include "reference_rnic/wire/markers.hpp"
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

// A Send of so many octets makes an FPDU of 508: with the Marker before it, it fills the 512 octets
// up to the next Marker.
constexpr std::size_t up_to_the_marker = 484;

// The connection on which the tester asks for Markers, and the IUT may send.
void ask_for_markers(Body& test, RuleRef judged_by = {}) {
  const auto reply = [](const rnic::wire::MpaFrame& request) {
    return mpa_reply_to(request).with_markers(true);
  };
  test.establish(
      {.request = mpa_request().with_markers(true), .reply = reply, .judged_by = judged_by});
  test.let_iut_send();
}

// The IUT sends this, and it arrives. What is wrong in a Marker is found as it arrives, and told
// under the Marker's rule.
void expect_send_of(Body& test, std::size_t size, RuleRef rule) {
  const Work work = test.iut.post_send(payload(size));
  test.expect(test.peer, message(Opcode::send, payload(size)), rule);
}

// A Write whose first Marker that is not at its beginning is changed before its CRC is computed.
Fpdu write_with_marker(Body& test, const Region& region, std::size_t octet, std::uint8_t bits) {
  Fpdu fpdu = test.peer.prepare(rdma_write(region.stag, region.base, payload(1000))).front();
  std::size_t at = rnic::wire::octets_to_marker(test.peer.raw().sending().position);
  if (at == 0) at = rnic::wire::marker_interval;
  fpdu.change_before_crc = [=](rnic::wire::MutableBytes all) {
    all[at + octet] ^= static_cast<std::byte>(bits);
  };
  return fpdu;
}

}  // namespace

// ---------------------------------------------------------------- the IUT as sender

CONFORMANCE_CASE(markers_are_sent_to_a_peer_that_asks,
                 rules("mpa.markers.added-when-peer-m-one", "mpa.markers.sender-able-to-insert",
                       "mpa.markers.every-512-octets", "mpa.markers.first-before-first-fpdu",
                       "mpa.markers.first-octets-zero-marker"),
                 in_both_roles, over_both_families) {
  ask_for_markers(*this, "mpa.markers.sender-able-to-insert");
  for (const std::size_t size : {0U, 1U, 100U, 484U, 20000U})
    expect_send_of(*this, size, "mpa.markers.added-when-peer-m-one");
}

CONFORMANCE_CASE(no_markers_are_sent_to_a_peer_that_does_not_ask,
                 rules("mpa.markers.none-when-peer-m-zero")) {
  establish({.request = mpa_request().with_markers(false)});
  let_iut_send();
  for (const std::size_t size : {10U, 3000U})
    expect_send_of(*this, size, "mpa.markers.none-when-peer-m-zero");
}

CONFORMANCE_CASE(markers_of_one_direction_do_not_call_for_those_of_the_other,
                 rules("mpa.markers.none-when-peer-m-zero"), configured({.markers = true})) {
  establish({.request = mpa_request().with_markers(false)});
  let_iut_send();
  for (const std::size_t size : {10U, 3000U})
    expect_send_of(*this, size, "mpa.markers.none-when-peer-m-zero");
}

CONFORMANCE_CASE(marker_within_an_fpdu_points_to_its_beginning,
                 rules("mpa.markers.pointer-counts-from-length-field",
                       "mpa.markers.pointer-distance-to-header",
                       "mpa.markers.several-in-fpdu-same-target",
                       "mpa.markers.small-fpdus-point-to-container"),
                 in_both_roles) {
  ask_for_markers(*this);
  expect_send_of(*this, 1300, "mpa.markers.several-in-fpdu-same-target");
  for (int i = 0; i < 20; ++i)
    expect_send_of(*this, 77, "mpa.markers.small-fpdus-point-to-container");
}

CONFORMANCE_CASE(marker_between_fpdus_is_zero,
                 rules("mpa.markers.zero-pointer-between-fpdus", "mpa.markers.first-pointer-zero",
                       "mpa.markers.small-fpdus-zero-between")) {
  ask_for_markers(*this);
  for (int i = 0; i < 4; ++i)
    expect_send_of(*this, up_to_the_marker, "mpa.markers.zero-pointer-between-fpdus");
}

CONFORMANCE_CASE(reserved_bits_of_markers_are_sent_as_zero,
                 rules("mpa.markers.reserved-sent-as-zero",
                       "mpa.markers.pointer-low-bits-sent-as-zero")) {
  ask_for_markers(*this);
  for (const std::size_t size : {484U, 5000U})
    expect_send_of(*this, size, "mpa.markers.reserved-sent-as-zero");
}

CONFORMANCE_CASE(markers_take_part_in_the_crc_that_is_sent,
                 rules("mpa.markers.counted-in-containing-crc", "mpa.crc.covers-leading-marker",
                       "mpa.markers.between-marker-in-next-crc")) {
  ask_for_markers(*this);
  for (const std::size_t size : {1300U, 484U, 484U})
    expect_send_of(*this, size, "mpa.markers.counted-in-containing-crc");
}

// ---------------------------------------------------------------- the IUT as receiver

CONFORMANCE_CASE(reserved_bits_of_received_markers_are_ignored,
                 rules("mpa.markers.reserved-ignored-on-receive",
                       "mpa.markers.pointer-low-bits-masked"),
                 rules("mpa.markers.receiver-low-bits-as-zero"), configured({.markers = true})) {
  peer.ready();
  const Region first = iut.register_memory(1000, access::remote_write);
  peer.send(write_with_marker(*this, first, 0, 0xFF));
  expect(first, holds(payload(1000)), "mpa.markers.reserved-ignored-on-receive");
  const Region second = iut.register_memory(1000, access::remote_write);
  peer.send(write_with_marker(*this, second, 3, 0x03));
  expect(second, holds(payload(1000)), "mpa.markers.pointer-low-bits-masked");
}

CONFORMANCE_CASE(wrong_marker_is_reported_as_such, rules("mpa.terminate.marker-mismatch-code"),
                 configured({.markers = true})) {
  expect_still_working();  // a Responder may send a Terminate only after a valid FPDU
  const Region region = iut.register_memory(1000, access::remote_write);
  peer.send(write_with_marker(*this, region, 3, 0x08));
  // Markers need not be looked at, and a silent drop is lawful too (docs/disputes.md D8).
  expect(peer, terminate(cause::mpa_marker) | silence());
}

CASES_OF_FILE(mpa, markers)

}  // namespace suite::cases
