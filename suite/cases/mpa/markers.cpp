// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5044 sections 4.2 to 4.4 and 7.1: Markers in what the IUT sends, and in what it receives.
#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "reference_rnic/wire/crc32c.hpp"
#include "reference_rnic/wire/fpdu.hpp"
#include "reference_rnic/wire/markers.hpp"
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

// A Send of this many octets makes an FPDU of 508: with the Marker before it, it fills the 512
// octets up to the next Marker.
constexpr std::size_t up_to_the_marker = 484;

// The connection on which the tester asks for Markers, and the IUT may send. The receive takes a
// first message: an IUT that answers with M = 1 gets Markers, and one that ends the stream for them
// shows nothing of what it sends.
Work connect_with_markers(Body& test, RuleRef judged_by = {}) {
  const auto reply = [](const rnic::wire::MpaFrame& request) {
    return mpa_reply_to(request).with_markers(true);
  };
  const Work receive = test.iut.post_receive(8);
  test.establish(
      {.request = mpa_request().with_markers(true), .reply = reply, .judged_by = judged_by});
  test.let_iut_send();
  test.peer.send(send_message(payload(8)));
  return receive;
}

void ask_for_markers(Body& test) {
  const Work receive = connect_with_markers(test);
  const auto taken = test.iut.take(completion_of(receive).matches, test.context().deadline);
  if (!taken || std::get<iut::CompletionEvent>(*taken).status != "success")
    test.stop(Verdict::inconclusive, "the IUT does not take the first message that is sent to it");
}

// The IUT sends this, and it arrives. A wrong Marker is found as it arrives, and reported under the
// rule of the Marker.
void expect_send_of(Body& test, std::size_t size, RuleRef rule) {
  const Work work = test.iut.post_send(payload(size));
  test.expect(test.peer, message(Opcode::send, payload(size)), rule);
}

// A Write that fills the region, in one FPDU whatever the EMSS, with its first Marker that is not at
// its beginning (or a later one) changed before its CRC is computed.
Fpdu write_with_marker(Body& test, const Region& region, std::size_t octet, std::uint8_t bits,
                       std::size_t later = 0) {
  const Outgoing write = rdma_write(region.stag, region.base, payload(region.length));
  Fpdu fpdu = test.peer.prepare(write.with_segments_of(region.length)).front();
  std::size_t at = rnic::wire::octets_to_marker(test.peer.raw().sending().position);
  if (at == 0) at = rnic::wire::marker_interval;
  at += later * rnic::wire::marker_interval;
  fpdu.change_before_crc = [=](rnic::wire::MutableBytes all) {
    all[at + octet] ^= static_cast<std::byte>(bits);
  };
  return fpdu;
}

// The octets of user data that an FPDU with `overhead` other octets needs to end, with its Markers,
// `place` octets after a Marker. It cannot end right after one: that Marker belongs to the next
// FPDU.
std::size_t data_up_to(std::uint64_t position, std::size_t place, std::size_t overhead) {
  std::size_t data = 0;
  while ((position + rnic::wire::length_with_markers(position, overhead + data)) %
             rnic::wire::marker_interval !=
         place)
    data += 4;
  return data;
}

constexpr std::size_t send_overhead = 24, write_overhead = 20;  ///< of an FPDU without a pad

}  // namespace

// ---------------------------------------------------------------- the IUT as sender

CONFORMANCE_CASE(full_fpdus_are_sent_at_every_offset_between_markers,
                 rules("mpa.markers.every-512-octets", "mpa.markers.pointer-distance-to-header",
                       "mpa.segmentation.mulpdu-formula-with-markers",
                       "mpa.crc.covers-marker-after-pad")) {
  ask_for_markers(*this);
  const std::size_t mulpdu = rnic::wire::mulpdu(peer.raw().connection().emss(), true);
  const std::size_t full = (mulpdu - 18) / 4 * 4;
  std::uint64_t position = 0;
  std::set<std::size_t> places;
  const auto sent = [&](std::size_t size) {
    const Work work = iut.post_send(payload(size));
    const Arrival arrival = expect(peer, message(Opcode::send, payload(size)));
    for (const Octets& ulpdu : arrival.as<Message>()->segments) {
      places.insert(position % rnic::wire::marker_interval);
      position += rnic::wire::length_with_markers(position, rnic::wire::fpdu_size(ulpdu.size()));
    }
  };
  for (std::size_t place = 8; place <= rnic::wire::marker_interval; place += 4) {
    sent(data_up_to(position, place % rnic::wire::marker_interval, send_overhead));
    sent(full);
  }
  if (places.size() < rnic::wire::marker_interval / 4 - 1)
    stop(Verdict::inconclusive, "the IUT segments its messages in another way");
}

CONFORMANCE_CASE(markers_are_sent_to_a_peer_that_asks,
                 rules("mpa.markers.added-when-peer-m-one", "mpa.markers.sender-able-to-insert",
                       "mpa.markers.every-512-octets", "mpa.markers.first-before-first-fpdu",
                       "mpa.markers.first-octets-zero-marker",
                       "mpa.receive.boundaries-by-length-field"),
                 in_both_roles, over_both_families) {
  const Work receive = connect_with_markers(*this, "mpa.markers.sender-able-to-insert");
  expect(receive, completes().with_length(8), "mpa.receive.boundaries-by-length-field");
  for (const std::size_t size : {0U, 1U, 100U, 484U, 20000U})
    expect_send_of(*this, size, "mpa.markers.added-when-peer-m-one");
}

CONFORMANCE_CASE(markers_of_a_terminate_follow_those_of_what_was_sent_before,
                 rules("mpa.markers.every-512-octets")) {
  // What is posted before the first FPDU of the Initiator leaves at once when that has come: more
  // than an LLP with a small buffer takes, so that some of it is framed and waits. It ends just
  // before a Marker: a Terminate that counts what was dropped contains that Marker.
  establish({.request = mpa_request().with_markers(true)});
  constexpr std::size_t each = 1300, to_the_marker = 24;
  std::uint64_t position = 0;
  const auto post = [&](std::size_t size) {
    static_cast<void>(iut.post_send(payload(size)));
    position += rnic::wire::length_with_markers(
        position, rnic::wire::fpdu_size(rnic::wire::untagged_header_size + size));
  };
  for (int i = 0; i < 60; ++i) post(each);
  post(data_up_to(position, rnic::wire::marker_interval - to_the_marker, send_overhead));
  peer.stall();
  peer.send(rdma_write(0x01020304, 0, {}));
  watch();
  peer.send(send_message(payload(1)).with_queue(7));
  watch();
  peer.resume();
  // Messages that are dropped before the Terminate have no place on the wire.
  const Expected end = any_terminate() | advisory(torn_down());
  const Expected send("a Send or its beginning", [](const Arrival& arrival) {
    const auto* message = arrival.as<Message>();
    return message != nullptr && message->opcode() == Opcode::send;
  });
  for (bool goes_on = true; goes_on;) {
    const Arrival arrival = expect(peer, send | end);
    goes_on = arrival.message(Opcode::send) != nullptr;
  }
}

CONFORMANCE_CASE(no_markers_are_sent_to_a_peer_that_does_not_ask,
                 rules("mpa.markers.none-when-peer-m-zero")) {
  establish({.request = mpa_request().with_markers(false),
             .judged_by = "mpa.markers.none-when-peer-m-zero"});
  let_iut_send();
  for (const std::size_t size : {10U, 3000U})
    expect_send_of(*this, size, "mpa.markers.none-when-peer-m-zero");
}

CONFORMANCE_CASE(markers_in_one_direction_do_not_imply_the_other,
                 rules("mpa.markers.none-when-peer-m-zero"), configured({.markers = true})) {
  establish({.request = mpa_request().with_markers(false),
             .judged_by = "mpa.markers.none-when-peer-m-zero"});
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
                       "mpa.markers.pointer-low-bits-sent-as-zero", "mpa.markers.field-layout")) {
  ask_for_markers(*this);
  for (const std::size_t size : {484U, 5000U})
    expect_send_of(*this, size, "mpa.markers.reserved-sent-as-zero");
}

CONFORMANCE_CASE(markers_are_covered_by_the_crc_that_is_sent,
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
                 configured({.markers = true})) {
  peer.ready();
  const Region first = iut.register_memory(500, access::remote_write);
  peer.send(write_with_marker(*this, first, 0, 0xFF));
  expect(first, holds(payload(500)), "mpa.markers.reserved-ignored-on-receive");
  const Region second = iut.register_memory(500, access::remote_write);
  peer.send(write_with_marker(*this, second, 3, 0x03));
  expect(second, holds(payload(500)), "mpa.markers.pointer-low-bits-masked");
}

CONFORMANCE_CASE(reserved_bits_of_received_markers_are_covered_by_the_crc,
                 rules("mpa.markers.reserved-checked-by-crc"), configured({.markers = true})) {
  for (const std::size_t octet : {0, 1}) {
    row(fmt::format("octet {} changed on the way", octet), [&] {
      const Region region = iut.register_memory(1000, access::remote_write);
      peer.ready();
      Fpdu fpdu = write_with_marker(*this, region, octet, 0x80);
      fpdu.change_after_crc = std::exchange(fpdu.change_before_crc, nullptr);
      peer.send(fpdu);
      watch_refused_fpdu();
      expect(region, unchanged);
    });
  }
}

CONFORMANCE_CASE(marker_between_received_fpdus_is_removed,
                 rules("mpa.markers.zero-pointer-means-header-next"), configured({.markers = true}),
                 in_both_roles) {
  const Region region = iut.register_memory(1024, access::remote_write);
  peer.ready();
  for (std::uint8_t i = 1; i <= 4; ++i) {
    const std::uint64_t position = peer.raw().sending().position;
    const Octets data = payload(data_up_to(position, 0, write_overhead), i);
    peer.send(rdma_write(region.stag, region.base, data));
  }
  const Octets last = payload(16, 9);
  peer.send(rdma_write(region.stag, region.base + 1000, last));  // after the fourth such Marker
  expect_still_working();
  const Octets seen = iut.read_memory(region);
  expect_that(part_of(seen, 1000, last.size()) == last, "all Writes placed",
              "the last one not placed");
}

CONFORMANCE_CASE(crc_without_the_marker_before_its_fpdu_is_wrong,
                 rules("mpa.markers.between-marker-checked-with-next"),
                 configured({.markers = true}), in_both_roles) {
  const Region region = iut.register_memory(1024, access::remote_write);
  peer.ready();
  const std::uint64_t position = peer.raw().sending().position;
  peer.send(rdma_write(region.stag, region.base, payload(data_up_to(position, 0, write_overhead))));
  Fpdu fpdu = peer.prepare(rdma_write(region.stag, region.base + 1000, payload(16, 9))).front();
  fpdu.change_after_crc = [](rnic::wire::MutableBytes all) {
    const auto crc = rnic::wire::crc32c_trailer(
        all.first(all.size() - rnic::wire::fpdu_crc_size).subspan(rnic::wire::marker_size));
    std::ranges::copy(crc, all.last(rnic::wire::fpdu_crc_size).begin());
  };
  peer.send(fpdu);
  watch_refused_fpdu();
  const Octets seen = part_of(iut.read_memory(region), 1000, 16);
  expect_that(seen == part_of(region.contents, 1000, 16), "nothing placed", "octets placed");
}

CONFORMANCE_CASE(fpdus_are_received_at_every_offset_between_markers,
                 rules("mpa.crc.recomputed-on-receive"), configured({.markers = true}),
                 in_both_roles) {
  constexpr std::size_t each = 600;  // with a Marker or two in it, wherever it begins
  constexpr std::size_t places = rnic::wire::marker_interval / 4;
  const Region region = iut.register_memory(places * each, access::remote_write);
  const Region filler = iut.register_memory(1024, access::remote_write);
  const Octets data = payload(places * each);
  peer.ready();
  for (std::size_t i = 0; i < places; ++i) {
    if (i == 1) continue;
    const std::uint64_t position = peer.raw().sending().position;
    peer.send(
        rdma_write(filler.stag, filler.base, payload(data_up_to(position, 4 * i, write_overhead))));
    peer.send(rdma_write(region.stag, region.base + i * each, part_of(data, i * each, each)));
  }
  Octets expected = region.contents;
  std::ranges::copy(part_of(data, 0, each), expected.begin());
  std::ranges::copy(part_of(data, 2 * each, data.size() - 2 * each),
                    std::span(expected).subspan(2 * each).begin());
  expect(region, holds(expected));
}

CONFORMANCE_CASE(fpdu_with_a_wrong_marker_is_not_delivered,
                 rules("mpa.markers.mismatch-delivered-as-error"), configured({.markers = true}),
                 in_both_roles) {
  const Region region = iut.register_memory(1000, access::remote_write);
  peer.ready();
  peer.send(write_with_marker(*this, region, 3, 0x08));
  watch();
  // A receiver of a stream in order need not check Markers (RFC 5044 sections 5.2 and 8).
  advise_that(iut.read_memory(region) == region.contents, "nothing placed", "the FPDU placed");
}

CONFORMANCE_CASE(later_markers_of_an_fpdu_are_compared_too,
                 rules("mpa.markers.checked-against-known-fpdu"), configured({.markers = true})) {
  const Region region = iut.register_memory(1200, access::remote_write);
  peer.ready();
  peer.send(write_with_marker(*this, region, 3, 0x08, 1));
  watch();
  advise_that(iut.read_memory(region) == region.contents, "nothing placed", "the FPDU placed");
}

CONFORMANCE_CASE(wrong_marker_is_reported_as_such, rules("mpa.terminate.marker-mismatch-code"),
                 configured({.markers = true})) {
  expect_still_working();  // a Responder may send a Terminate only after a valid FPDU
  const Region region = iut.register_memory(1000, access::remote_write);
  peer.send(write_with_marker(*this, region, 3, 0x08));
  // Markers need not be checked, and a silent drop is lawful as well (docs/disputes.md D8).
  expect(peer, terminate(cause::mpa_marker) | silence());
}

CASES_OF_FILE(mpa, markers)

}  // namespace suite::cases
