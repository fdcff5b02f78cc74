// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5044 section 7.1: MPA startup with the IUT as Responder.
#include "suite/cases/mpa/startup_steps.hpp"

namespace suite::cases {

using namespace startup;  // NOLINT(google-build-using-namespace): the steps are the cases' words

namespace {

constexpr std::string_view request_key = "MPA ID Req Frame", reply_key = "MPA ID Rep Frame";

/// The Request key with the case of one octet changed or, if it is not a letter, another octet.
std::string wrong_key(std::size_t at) {
  std::string key(request_key);
  key[at] = static_cast<char>(key[at] ^ 0x20);
  return key;
}

}  // namespace

// ---------------------------------------------------------------- the Reply (7.1.1)

CONFORMANCE_CASE(reply_begins_with_the_key_of_a_responder, rules("mpa.startup.reply-key"),
                 over_both_families) {
  ask(*this, mpa_request());
  const Octets key = octets(reply_key);
  expect(peer.raw(),
         Expected("a frame that begins with \"MPA ID Rep Frame\"", [&](const Arrival& arrival) {
           const auto* frame = arrival.as<ReceivedFrame>();
           return frame != nullptr && std::ranges::equal(key, std::span(frame->octets).first(16));
         }));
}

CONFORMANCE_CASE(reply_is_laid_out_as_figure_8_shows, rules("mpa.startup.frame-layout")) {
  ask(*this, mpa_request(), with_private_data(payload(8)));
  // Flags and Rev are judged elsewhere. An API may pad what its consumer sends.
  constexpr std::size_t private_data_at = 20;
  expect(peer.raw(),
         Expected("a Reply whose PD_Length counts what follows, the consumer's 8 octets in front",
                  [&](const Arrival& arrival) {
                    const auto* frame = arrival.as<ReceivedFrame>();
                    if (frame == nullptr || frame->octets.size() < private_data_at + 8)
                      return false;
                    const auto octet = [&](std::size_t at) {
                      return std::to_integer<std::size_t>(frame->octets[at]);
                    };
                    return (octet(18) << 8 | octet(19)) == frame->octets.size() - private_data_at &&
                           part_of(frame->octets, private_data_at, 8) == payload(8);
                  }));
}

CONFORMANCE_CASE(reserved_flags_of_the_reply_are_zero,
                 rules("mpa.startup.reserved-bits-sent-as-zero")) {
  ask(*this, mpa_request());
  expect(peer.raw(), mpa_frame("reserved flags zero", [](const wire::MpaFrame& frame) {
           return (frame.flags.octet & 0x1F) == 0;
         }));
}

CONFORMANCE_CASE(reply_to_revision_one_states_revision_one,
                 rules("mpa.startup.revision-one-sent")) {
  // RFC 6581 section 6 allows a higher revision in frames without its features.
  const auto of_rev = [](std::uint8_t least, std::uint8_t most) {
    return mpa_frame(fmt::format("Rev {} to {}", least, most), [=](const wire::MpaFrame& frame) {
      return frame.revision >= least && frame.revision <= most;
    });
  };
  row("accepting", [&] {
    ask(*this, mpa_request());
    expect(peer.raw(), of_rev(1, 1) | advisory(of_rev(2, 255)));
  });
  row("rejecting", [&] {
    send_request(*this, mpa_request());
    iut.reject(asked(*this).request);
    expect(peer.raw(), of_rev(1, 1) | advisory(of_rev(2, 255)));
  });
}

CONFORMANCE_CASE(accepting_reply_has_r_clear, rules("mpa.startup.acceptable-request-accepted",
                                                    "mpa.startup.responder-ready-for-fpdus")) {
  ask(*this, mpa_request());
  expect(peer.raw(), accepting_reply());
  expect_still_working("mpa.startup.responder-ready-for-fpdus");
}

CONFORMANCE_CASE(crc_is_asked_for_by_default,
                 rules("mpa.crc.default-is-enabled", "mpa.crc.generated-when-either-c-one"),
                 in_both_roles) {
  const auto wants_crc =
      mpa_frame("C set", [](const wire::MpaFrame& frame) { return frame.flags.crc(); });
  if (iut_is_responder()) {
    ask(*this, mpa_request().with_crc(false));
  } else {
    let_iut_connect();
  }
  // One C = 1 is enough: an IUT must not close because the other side does not ask for CRCs.
  const Arrival arrival = expect(peer.raw(), mpa_frame(), "mpa.crc.generated-when-either-c-one");
  expect_that(wants_crc.judge(arrival) == Judgement::pass, "C set", arrival.text(),
              "mpa.crc.default-is-enabled");
}

// ---------------------------------------------------------------- what a Request may have

CONFORMANCE_CASE(reserved_flags_of_the_request_are_ignored,
                 rules("mpa.startup.reserved-bits-ignored")) {
  // 0x10 is S from revision 2 on (RFC 6581 section 6), and reserved in revision 1.
  for (const std::uint8_t bit : std::initializer_list<std::uint8_t>{0x01, 0x02, 0x04, 0x08, 0x10}) {
    row(fmt::format("flag {:#04x}", bit), [&] {
      send_request(*this, mpa_request().with_flag(bit));
      accept(*this, std::get<iut::ConnectRequestEvent>(expect(iut, connect_request())));
      expect(peer.raw(), accepting_reply());
      expect_still_working();
    });
  }
}

CONFORMANCE_CASE(rejection_flag_of_the_request_is_ignored, rules("mpa.startup.request-r-ignored")) {
  send_request(*this, mpa_request().with_flag(MpaFlags::r));
  accept(*this, std::get<iut::ConnectRequestEvent>(expect(iut, connect_request())));
  expect(peer.raw(), accepting_reply());
}

CONFORMANCE_CASE(revision_one_is_still_accepted, rules("mpa.enhanced.revision-one-still-accepted"),
                 needs(capability::enhanced_startup)) {
  send_request(*this, mpa_request().with_revision(1));
  accept(*this, std::get<iut::ConnectRequestEvent>(expect(iut, connect_request())));
  expect(peer.raw(), accepting_reply());
  expect_still_working();
}

CONFORMANCE_CASE(request_in_pieces_is_put_together,
                 rules("mpa.startup.responder-waits-for-request")) {
  const StartupFrame request = mpa_request().with_private_data(payload(16));
  const auto taken = [&] {
    accept(*this, std::get<iut::ConnectRequestEvent>(expect(iut, connect_request())));
    expect(peer.raw(), accepting_reply());
  };
  for (const std::size_t cut : {1, 16, 19, 20, 35}) {
    row(fmt::format("the first {} octets alone", cut), [&] {
      peer.connect();
      peer.raw().send_octets(wire::Bytes(request.encode()).first(cut));
      expect(peer.raw(), silence());
      expect_none(connect_request());
      peer.raw().send_rest(request, cut);
      taken();
    });
  }
  row("octet by octet", [&] {
    send_request(*this, request, Cut::single_octets());
    taken();
  });
}

// ---------------------------------------------------------------- what ends in a close

CONFORMANCE_CASE(request_with_a_wrong_key_is_refused,
                 rules("mpa.startup.responder-checks-key", "mpa.startup.responder-reports-bad-key"),
                 over_both_families) {
  const auto refused = [&](const std::string& key) {
    send_request(*this, mpa_request().with_key(key));
    expect(peer.raw(), torn_down());
    expect_none(connect_request(), "mpa.startup.responder-reports-bad-key");
  };
  for (std::size_t at = 0; at < request_key.size(); ++at)
    row(fmt::format("octet {} wrong", at), [&] { refused(wrong_key(at)); });
  row("the key of a Reply", [&] { refused(std::string(reply_key)); });
  row("all zero", [&] { refused(std::string(16, '\0')); });
}

CONFORMANCE_CASE(malformed_request_is_answered_only_by_a_close,
                 rules("mpa.startup.bad-request-closes-tcp"),
                 rules("mpa.private-data.failed-check-is-bad-frame")) {
  const auto refused = [&](const StartupFrame& frame, RuleRef rule) {
    send_request(*this, frame);
    expect(peer.raw(), torn_down(), rule);
    expect_none(connect_request(), rule);
  };
  row("a wrong key",
      [&] { refused(mpa_request().with_key(reply_key), "mpa.startup.bad-request-closes-tcp"); });
  row("too much Private Data", [&] {
    refused(mpa_request().with_private_data(payload(513)),
            "mpa.private-data.failed-check-is-bad-frame");
  });
}

CONFORMANCE_CASE(unknown_revision_is_refused, rules("mpa.startup.revision-checked")) {
  for (const int revision : {0xFF, 0x80, 0}) {
    row(fmt::format("revision {}", revision), [&] {
      send_request(*this, mpa_request().with_revision(static_cast<std::uint8_t>(revision)));
      const auto own = mpa_frame("a revision of its own", [&](const wire::MpaFrame& reply) {
        return reply.revision == 1 || reply.revision == 2;  // appendix C.2.1
      });
      // An IUT that can work with the revision need not close (RFC 5044 section 7.1.1,
      // docs/disputes.md D61).
      const Arrival answer = expect(peer.raw(), torn_down() | own | advisory(silence()));
      if (answer.as<ReceivedFrame>() != nullptr)
        expect(peer.raw(), torn_down(), "mpa.startup.unsupported-revision-closes");
    });
  }
}

CONFORMANCE_CASE(octets_after_the_request_show_a_wrong_length,
                 rules("mpa.private-data.length-mismatch-closes")) {
  // Nothing may follow a Request before its Reply, so PD_Length was too small. An IUT that does not
  // check treats the rest as an early FPDU: the RFC does not say how the fault is to be found.
  row("with it", [&] {
    send_request(*this, mpa_request().with_private_data(payload(24)).with_pd_length(8));
    expect(peer.raw(), torn_down() | advisory(silence()));
  });
  row("once the consumer has it", [&] {
    send_request(*this, mpa_request().with_private_data(payload(8)));
    static_cast<void>(asked(*this));
    peer.raw().send_octets(payload(16));
    expect(peer.raw(), torn_down() | advisory(silence()));
  });
}

CONFORMANCE_CASE(request_cut_short_is_refused, rules("mpa.private-data.length-field-validated"),
                 deadline_of(std::chrono::seconds(40))) {
  send_request(*this, mpa_request().with_private_data(payload(8)).with_pd_length(24));
  peer.half_close();
  expect_none(connect_request());
  expect(peer.raw(), torn_down());  // at once, or when startup times out
}

CONFORMANCE_CASE(missing_request_times_out, rules("mpa.startup.responder-times-out"),
                 deadline_of(std::chrono::seconds(40))) {
  peer.connect();
  expect_by_deadline(peer.raw(), torn_down() | advisory(silence()));
}

CONFORMANCE_CASE(startup_timer_stops_when_startup_is_complete, rules("mpa.startup.frames-time-out"),
                 deadline_of(std::chrono::seconds(10)), in_both_roles) {
  expect_still_working();
  // No startup may take longer than this here; a live connection lasts as long as the ULP wants.
  const auto ended = iut.take(disconnected().matches, context().loop.now() + 4s);
  expect_that(!ended.has_value(), "the connection left alone", "disconnected");
  expect_still_working();
}

CONFORMANCE_CASE(half_a_request_times_out, rules("mpa.startup.frames-time-out"),
                 deadline_of(std::chrono::seconds(40))) {
  row("ten octets", [&] {
    peer.connect();
    peer.raw().send_octets(wire::Bytes(mpa_request().encode()).first(10));
    expect_by_deadline(peer.raw(), torn_down() | advisory(silence()));
  });
  row("an octet each second", [&] {
    peer.connect();
    constexpr std::size_t most_octets = 40;
    const Octets request = mpa_request().with_private_data(payload(most_octets)).encode();
    Arrival end;
    for (std::size_t sent = 0; !end.is_end() && sent < most_octets; ++sent) {
      peer.raw().send_octets(wire::Bytes(request).subspan(sent, 1));
      end = peer.raw().next(context().loop.now() + 1s);
    }
    advise_that(end.is_end(), "the connection torn down",
                fmt::format("{} octets awaited", most_octets));
  });
}

// ---------------------------------------------------------------- rejection

CONFORMANCE_CASE(rejecting_reply_has_r_set, rules("mpa.startup.reply-r-tells-rejection",
                                                  "mpa.private-data.reject-reply-may-carry",
                                                  "mpa.private-data.length-field-matches")) {
  send_request(*this, mpa_request());
  iut.reject(asked(*this).request, payload(8));
  const Arrival reply = expect(peer.raw(), rejecting_reply());
  const auto data = reply.as<ReceivedFrame>()->frame().ulp_private_data();
  const std::string actual = fmt::format("{} octets", data.size());
  expect_that(data.empty() || std::ranges::equal(data, payload(8)),
              "the consumer's Private Data in the Reply, if any", actual,
              "mpa.private-data.length-field-matches");
  advise_that(!data.empty(), "the consumer's Private Data", actual,
              "mpa.private-data.reject-reply-may-carry");
}

CONFORMANCE_CASE(rejecting_responder_leaves_mpa,
                 rules("mpa.startup.rejecting-responder-exits-mpa")) {
  send_request(*this, mpa_request());
  iut.reject(asked(*this).request);
  expect(peer.raw(), rejecting_reply());
  // Which side closes, and whether, is open (docs/disputes.md D4); no octet may be sent before that
  // (D5).
  expect(peer.raw(), fin() | connection_reset() | silence());
}

CONFORMANCE_CASE(rejecting_reply_is_not_followed_by_a_reset,
                 rules("mpa.startup.rejecting-responder-keeps-tcp"), over_both_families) {
  send_request(*this, mpa_request());
  const iut::ConnectRequestEvent request = asked(*this);
  peer.raw().pause_receiving(true);  // a reset would discard octets that are not yet read
  iut.reject(request.request, payload(8));
  watch();
  peer.raw().pause_receiving(false);
  expect(peer.raw(), rejecting_reply());
  expect(peer.raw(), fin() | silence() | advisory(connection_reset()));
}

// ---------------------------------------------------------------- the first FPDU (7.1.2, rule 4)

CONFORMANCE_CASE(responder_is_silent_before_the_first_fpdu,
                 rules("mpa.startup.responder-silent-before-first-fpdu")) {
  establish();
  static_cast<void>(
      iut.take<iut::EstablishedEvent>(context().loop.now() + environment().quiet_window));
  const bool taken = try_to_send(*this, octets("early"));
  expect(peer.raw(), silence());
  let_responder_send(*this);
  if (taken) expect(peer.raw(), message(Opcode::send, octets("early")));
  expect_still_working();
}

CONFORMANCE_CASE(nothing_is_sent_after_an_invalid_first_fpdu,
                 rules("mpa.startup.responder-validates-first-fpdu"),
                 rules("mpa.startup.responder-silent-before-first-fpdu")) {
  establish();
  static_cast<void>(
      iut.take<iut::EstablishedEvent>(context().loop.now() + environment().quiet_window));
  static_cast<void>(try_to_send(*this, octets("early")));
  // What does not wait for an FPDU at all breaks another rule.
  expect(peer.raw(), silence(), "mpa.startup.responder-silent-before-first-fpdu");
  const Region target = iut.register_memory(16, access::remote_write);
  peer.send(rdma_write(target.stag, target.base, payload(16)).with_crc(CrcChoice::wrong));
  // A silent drop is lawful (docs/disputes.md D8); a Terminate is itself an FPDU.
  expect(peer.raw(), torn_down() | silence() | advisory(any_terminate()));
}

CONFORMANCE_CASE(half_an_fpdu_does_not_let_the_responder_send,
                 rules("mpa.startup.responder-silent-before-first-fpdu")) {
  establish();
  static_cast<void>(
      iut.take<iut::EstablishedEvent>(context().loop.now() + environment().quiet_window));
  static_cast<void>(try_to_send(*this, octets("early")));
  const Fpdu fpdu = peer.prepare(send_message(payload(16))).front();
  peer.raw().means_to_send(fpdu.ulpdu);
  peer.send_octets(wire::Bytes(encode(fpdu, peer.raw().sending())).first(20));
  expect(peer.raw(), silence());
  peer.half_close();
  // A Terminate is itself an FPDU.
  expect(peer.raw(), torn_down() | advisory(any_terminate()));
}

// ---------------------------------------------------------------- Markers, several at once

CONFORMANCE_CASE(m_in_the_request_requires_markers,
                 rules("mpa.startup.request-m-demands-markers", "mpa.markers.added-when-peer-m-one",
                       "mpa.markers.every-512-octets", "mpa.markers.pointer-distance-to-header",
                       "mpa.markers.zero-pointer-between-fpdus",
                       "mpa.markers.counted-in-containing-crc", "mpa.crc.covers-leading-marker"),
                 rules("mpa.markers.reserved-sent-as-zero",
                       "mpa.markers.pointer-counts-from-length-field",
                       "mpa.markers.pointer-low-bits-sent-as-zero")) {
  establish({.request = mpa_request().with_markers(true)});
  let_iut_send();
  for (const std::size_t size : {0, 1, 480, 500, 5000}) {
    const Work work = iut.post_send(payload(size));
    expect(peer, message(Opcode::send, payload(size)), "mpa.markers.added-when-peer-m-one");
    expect(work, completes());
  }
}

CONFORMANCE_CASE(without_m_there_are_no_markers, rules("mpa.markers.none-when-peer-m-zero")) {
  establish();
  let_iut_send();
  static_cast<void>(iut.post_send(payload(3000)));
  expect(peer, message(Opcode::send, payload(3000)));
}

CONFORMANCE_CASE(half_open_connection_does_not_delay_others,
                 rules("mpa.startup.acceptable-request-accepted")) {
  Peer& half_open = another_peer();
  expect_that(half_open.connect(iut_address()).has_value(), "a connection", "none");
  half_open.send_octets(wire::Bytes(mpa_request().encode()).first(10));  // and no more
  establish({.judged_by = "mpa.startup.acceptable-request-accepted"});
  Peer& third = another_peer();
  establish(third, {.endpoint = iut.create_endpoint(),
                    .judged_by = "mpa.startup.acceptable-request-accepted"});
  expect_still_working();
}

CONFORMANCE_CASE(request_in_pieces_is_put_together_while_another_is_accepted,
                 rules("mpa.startup.responder-waits-for-request",
                       "mpa.startup.acceptable-request-accepted")) {
  const StartupFrame request = mpa_request().with_private_data(payload(16));
  for (const std::size_t cut : {1, 19, 35}) {
    row(fmt::format("after {} octets", cut), [&] {
      peer.connect();
      peer.raw().send_octets(wire::Bytes(request.encode()).first(cut));
      Peer& other = another_peer();
      establish(other, {.endpoint = iut.create_endpoint(),
                        .judged_by = "mpa.startup.acceptable-request-accepted"});
      peer.raw().send_rest(request, cut);
      accept(*this, std::get<iut::ConnectRequestEvent>(
                        expect(iut, connect_request(), "mpa.startup.responder-waits-for-request")));
      expect(peer.raw(), accepting_reply(), "mpa.startup.responder-waits-for-request");
    });
  }
}

CONFORMANCE_CASE(lone_fpdu_after_the_reply_is_taken,
                 rules("mpa.startup.ddp-bound-before-full-operation",
                       "mpa.startup.responder-ready-for-fpdus"),
                 over_both_families, deadline_of(20s)) {
  // Whether it gets lost may depend on when it comes: hence many connections.
  for (int i = 0; i < 20; ++i) {
    row(fmt::format("connection {}", i + 1), [&] {
      const Work receive = iut.post_receive(64);
      peer.send(send_message(payload(16)));
      expect(receive, completes().with_length(16),
             i % 2 == 0 ? RuleRef("mpa.startup.ddp-bound-before-full-operation")
                        : RuleRef("mpa.startup.responder-ready-for-fpdus"));
    });
  }
}

CONFORMANCE_CASE(octets_after_the_startup_frame_begin_full_operation,
                 rules("mpa.startup.frames-without-crc-or-markers",
                       "mpa.startup.first-octets-are-length"),
                 in_both_roles) {
  // Startup frames have neither a CRC nor Markers, whatever they ask for (RFC 5044 section 7.1).
  // The first FPDU shows it: it is misread if anything stands between it and the frame.
  for (const bool markers : {false, true}) {
    row(markers ? "Markers asked for" : "no Markers", [&] {
      const auto reply = [=](const rnic::wire::MpaFrame& request) {
        return mpa_reply_to(request).with_markers(markers);
      };
      // If the IUT declines Markers, the row is inconclusive.
      establish({.request = mpa_request().with_markers(markers),
                 .reply = reply,
                 .parameters = with_private_data(payload(private_data_limit(*this)))});
      let_iut_send();
      const Work work = iut.post_send(payload(16));
      expect(peer, message(Opcode::send, payload(16)),
             markers ? RuleRef("mpa.startup.frames-without-crc-or-markers")
                     : RuleRef("mpa.startup.first-octets-are-length"));
    });
  }
}

CASES_OF_FILE(mpa, startup_responder)

}  // namespace suite::cases
