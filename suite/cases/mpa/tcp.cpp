// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5044 sections 1.2, 3 and 7.1.5: what TCP recovers from must not show above it: segments cut
// anywhere, lost, out of order, repeated, overlapping or marked, a closed window, a path that
// changes, and the addresses that are listened on.
#include <algorithm>

#include "reference_rnic/wire/fpdu.hpp"
#include "reference_rnic/wire/markers.hpp"
#include "suite/cases/framework/long_work.hpp"
#include "suite/cases/mpa/startup_steps.hpp"

namespace suite::cases {

using namespace startup;  // NOLINT(google-build-using-namespace): the steps are the cases' words

namespace {

constexpr std::size_t shrunken_emss = 700;
constexpr auto gap_open_for = std::chrono::milliseconds(700);

/// The peer of a connection on which segments can be lost or reordered.
Peer& disturbed(Body& on, Peer& peer) {
  if (!peer.can_disturb())
    on.stop(Verdict::not_applicable,
            "the tester may not lose or reorder segments: it lacks CAP_NET_ADMIN or CAP_NET_RAW");
  return peer;
}

/// Sends an FPDU that ends `place` octets after a Marker: a Write of up to 512 octets.
void send_up_to(Peer& tester, std::uint64_t place, const Region& region, std::uint64_t offset) {
  for (std::size_t size = 0; size <= rnic::wire::marker_interval; size += 4) {
    const Outgoing write = rdma_write(region.stag, region.base + offset, payload(size));
    const Fpdu fpdu = tester.prepare(write.with_segments_of(rnic::wire::marker_interval)).front();
    const std::uint64_t end = tester.sending().position + encode(fpdu, tester.sending()).size();
    if (end % rnic::wire::marker_interval == place) return tester.send(fpdu);
  }
}

}  // namespace

CONFORMANCE_CASE(switch_to_full_operation_survives_any_cut,
                 rules("mpa.dual-stack.recovers-during-switch"), in_both_roles,
                 over_both_families) {
  const Work receive = iut.post_receive(64);
  if (iut_is_responder()) {
    send_request(*this, mpa_request().with_private_data(payload(16)), Cut::single_octets());
    accept(*this, std::get<iut::ConnectRequestEvent>(expect(iut, connect_request())));
    expect(peer.raw(), accepting_reply());
  } else {
    const StartupFrame reply = accepting(*this, request_of(*this));
    peer.raw().send(reply.with_private_data(payload(16)), Cut::single_octets());
    expect(iut, established());
    expect_to_speak(*this);
  }
  peer.send(send_message(payload(20)), Cut::single_octets());
  expect(receive, completes().with_length(20));
}

CONFORMANCE_CASE(sending_resumes_when_a_closed_window_opens,
                 rules("mpa.dual-stack.tcp-rules-followed"), in_both_roles, over_both_families) {
  see_iut_send();
  peer.stall();
  const Work work = post_much(iut);
  watch();
  peer.resume();
  if (!expect_much(Opcode::send, "mpa.dual-stack.tcp-rules-followed")) return;
  expect(work, completes());
}

CONFORMANCE_CASE(segments_lost_during_the_switch_are_recovered,
                 rules("mpa.dual-stack.recovers-during-switch"), in_both_roles,
                 over_both_families) {
  row("the startup frame", [&] {
    if (iut_is_responder()) {
      peer.connect();
      disturbed(*this, peer.raw()).lose_next();
      peer.raw().send(mpa_request().with_private_data(payload(16)));
      accept(*this, asked(*this));
      expect(peer.raw(), accepting_reply());
    } else {
      const ReceivedFrame request = request_of(*this);
      disturbed(*this, peer.raw()).lose_next();
      peer.raw().send(accepting(*this, request));
      expect(iut, established());
      expect_to_speak(*this);
    }
    expect_still_working();
  });
  row("the first FPDU", [&] {
    const Work receive = iut.post_receive(64);
    disturbed(*this, peer.ready()).lose_next();
    peer.send(send_message(payload(20)));
    expect(receive, completes().with_length(20));
    expect_none(connect_request());
  });
}

CONFORMANCE_CASE(everything_held_up_by_a_lost_segment_is_delivered,
                 rules("mpa.receive.gap-closing-indicated"), in_both_roles, over_both_families) {
  std::vector<Work> receives;
  for (int i = 0; i < 6; ++i) receives.push_back(iut.post_receive(256));
  const Region region = iut.register_memory(64, access::remote_write);
  disturbed(*this, peer.ready()).lose_next();
  for (std::size_t i = 0; i < receives.size(); ++i) {
    peer.send(send_message(payload(100 + i)));
    peer.send(rdma_write(region.stag, region.base + 8 * i, payload(8)));
  }
  expect_in_order(receives);
}

CONFORMANCE_CASE(segments_out_of_order_are_delivered_in_order,
                 rules("mpa.receive.reordered-segments-delivered-in-order"), in_both_roles,
                 over_both_families) {
  std::vector<Work> receives;
  for (int i = 0; i < 3; ++i) receives.push_back(iut.post_receive(64));
  Peer& tester = disturbed(*this, peer.ready());
  std::vector<Fpdu> fpdus;
  std::vector<Octets> wires;
  for (std::size_t i = 0; i < 3; ++i) {
    fpdus.push_back(tester.prepare(send_message(payload(50 + i))).front());
    wires.push_back(encode(fpdus.back(), tester.sending()));
  }
  const auto second = static_cast<std::int64_t>(wires[0].size());
  tester.inject(second + static_cast<std::int64_t>(wires[1].size()), wires[2]);
  tester.inject(second, wires[1]);
  watch();
  for (const Work& receive : receives)
    expect_that(!iut.take(completion_of(receive).matches, context().loop.now()),
                "no completion before the first message", "a completion");
  tester.send(fpdus);
  for (std::uint32_t i = 0; i < 3; ++i) expect(receives[i], completes().with_length(50 + i));
  expect_still_working();
}

CONFORMANCE_CASE(repeated_and_overlapping_segments_are_delivered_once,
                 rules("ddp.llp.no-duplicate-segments"), in_both_roles, over_both_families) {
  const Work first = iut.post_receive(256), second = iut.post_receive(256);
  const Work third = iut.post_receive(256);
  Peer& tester = disturbed(*this, peer.ready());
  const Fpdu one = tester.prepare(send_message(payload(120))).front();
  const Fpdu two = tester.prepare(send_message(payload(80, 7))).front();
  const Octets before = encode(one, tester.sending()), after = encode(two, tester.sending());
  tester.send(one);
  expect(first, completes().with_length(120));
  tester.inject(-static_cast<std::int64_t>(before.size()), before);
  Octets across(before.end() - 40, before.end());
  across.insert(across.end(), after.begin(), after.begin() + 40);
  tester.inject(-40, across);
  watch();
  tester.send(two, Cut::at({40}));  // the beginning is in a segment of its own again
  expect(second, completes().with_length(80));
  expect(second.buffer, holds(payload(80, 7)));
  expect_none(success_of(third));
}

// However long TCP takes to repeat what is missing: here several of its shortest timeouts.
CONFORMANCE_CASE(gap_that_stays_open_for_long_is_closed,
                 rules("mpa.receive.reordered-segments-delivered-in-order",
                       "mpa.receive.gap-closing-indicated"),
                 in_both_roles, over_both_families, deadline_of(10s)) {
  const Work first = iut.post_receive(64), second = iut.post_receive(64);
  const Region region = iut.register_memory(64, access::remote_write);
  Peer& tester = disturbed(*this, peer.ready());
  std::vector<Fpdu> fpdus;
  for (const Outgoing& message :
       {send_message(payload(50)), rdma_write(region.stag, region.base, payload(64)),
        send_message(payload(51))})
    fpdus.push_back(tester.prepare(message).front());
  auto place = static_cast<std::int64_t>(encode(fpdus.front(), tester.sending()).size());
  for (const Fpdu& later : {fpdus[1], fpdus[2]}) {
    const Octets wire = encode(later, tester.sending());
    tester.inject(place, wire);
    place += static_cast<std::int64_t>(wire.size());
  }
  const auto none_until = context().loop.now() + gap_open_for;
  const ExpectedEvent either = completion_of(first) | completion_of(second);
  expect_that(!iut.take(either.matches, none_until), "no completion before the gap closes",
              "a completion", "mpa.receive.reordered-segments-delivered-in-order");
  tester.send(fpdus);
  expect(first, completes().with_length(50), "mpa.receive.gap-closing-indicated");
  expect(second, completes().with_length(51), "mpa.receive.gap-closing-indicated");
  expect(region, holds(payload(64)), "mpa.receive.gap-closing-indicated");
}

// A path may set the ECN field of any packet, whether or not the ends use it (RFC 3168).
CONFORMANCE_CASE(segments_with_ecn_marks_are_taken, rules("mpa.dual-stack.tcp-rules-followed"),
                 in_both_roles, over_both_families) {
  const auto take = [&](const char* name, rnic::llp::Ecn ecn) {
    row(name, [&] {
      const Work receive = iut.post_receive(64);
      Peer& tester = disturbed(*this, peer.ready());
      const Fpdu fpdu = tester.prepare(send_message(payload(50))).front();
      tester.inject(0, encode(fpdu, tester.sending()), ecn);
      const auto until = context().loop.now() + environment().quiet_window;
      const auto at_once = iut.take(completion_of(receive).matches, until);
      tester.send(fpdu);  // TCP repeats what is not acknowledged
      if (!at_once) expect(receive, completes().with_length(50));
      advise_that(at_once.has_value(), "the marked segment taken", "only the one without a mark");
      expect(receive.buffer, holds(payload(50)));
      expect_still_working();
    });
  };
  take("ECT(0)", rnic::llp::Ecn::ect_0);
  take("ECT(1)", rnic::llp::Ecn::ect_1);
  take("congestion experienced", rnic::llp::Ecn::congestion_experienced);
}

CONFORMANCE_CASE(marker_is_compared_when_the_gap_before_it_closes,
                 rules("mpa.markers.checked-when-gap-closes"), configured({.markers = true}),
                 in_both_roles) {
  // Both fit into one TCP segment, even of an EMSS of 536, and a Marker is within the second.
  const Region region = iut.register_memory(900, access::remote_write);
  Peer& tester = disturbed(*this, peer.ready());
  send_up_to(tester, 300, region, 300);
  const Fpdu first = tester.prepare(rdma_write(region.stag, region.base, payload(100))).front();
  const Outgoing marked = rdma_write(region.stag, region.base + 100, payload(200, 7));
  Fpdu second = tester.prepare(marked).front();
  Framing framing = tester.sending();
  const auto gap = static_cast<std::int64_t>(encode(first, framing).size());
  framing.position += static_cast<std::uint64_t>(gap);
  const std::size_t marker = rnic::wire::octets_to_marker(framing.position);
  second.change_before_crc = [=](rnic::wire::MutableBytes all) { all[marker + 3] ^= std::byte{8}; };
  tester.inject(gap, encode(second, framing));
  watch();
  tester.send({first, second});
  watch_refused_fpdu();
  const Octets seen = iut.read_memory(region);
  // A receiver for which TCP closes the gap need not check Markers (RFC 5044 section 8).
  advise_that(part_of(seen, 100, 200) == part_of(region.contents, 100, 200),
              "nothing of the FPDU with the wrong Marker placed", "the FPDU placed");
}

CONFORMANCE_CASE(stream_survives_a_path_mtu_that_shrinks,
                 rules("mpa.dual-stack.tcp-rules-followed", "mpa.segmentation.mulpdu-follows-emss"),
                 in_both_roles) {
  use_spare_address();
  see_iut_send();
  // FPDUs in flight when the path changes were made for the longer segments.
  peer.stall();
  const Work work = post_much(iut);
  watch();
  if (!peer.raw().connection().change_emss(shrunken_emss))
    stop(Verdict::not_applicable, "the tester cannot change the path MTU: it lacks CAP_NET_RAW");
  peer.resume();
  if (!expect_much(Opcode::send, "mpa.dual-stack.tcp-rules-followed")) return;
  expect(work, completes());
  const Octets data = payload(20'000);
  const Work later = iut.post_send(data);
  const Arrival arrival = expect(peer, message(Opcode::send, data));
  expect(later, completes());
  const auto& ulpdus = arrival.as<Message>()->segments;
  const std::size_t longest = std::ranges::max(ulpdus, {}, &Octets::size).size();
  const std::size_t limit = rnic::wire::mulpdu(shrunken_emss, false);
  // When a sender checks the EMSS again is left to it, so this is only an advisory.
  advise_that(longest <= limit, fmt::format("ULPDUs of at most {} octets", limit),
              fmt::format("{} octets", longest), "mpa.segmentation.mulpdu-follows-emss");
  expect_still_working();
}

CONFORMANCE_CASE(listener_of_one_family_answers_no_other,
                 rules("mpa.dual-stack.tcp-rules-followed"), needs(capability::ipv6),
                 over_both_families) {
  establish();
  const bool over_ipv4 = the_case().family == base::Family::ipv4;
  const base::Address own = over_ipv4 ? environment().iut_ipv6 : environment().iut_ipv4;
  if (own.octets == base::Address{}.octets)
    stop(Verdict::not_applicable, "the IUT has no address of the other family");
  Peer& other = another_peer();
  const auto up = other.connect(own.with_port(iut_address().port));
  if (up) other.send(mpa_request());
  expect_none(connect_request());
  // Another listener of the same host may have this port in the other family.
  advise_that(!up, "no connection with the same port of the other family", "a connection");
}

CASES_OF_FILE(mpa, tcp)

}  // namespace suite::cases
