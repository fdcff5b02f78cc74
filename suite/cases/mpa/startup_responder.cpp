// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5044 section 7.1: MPA startup with the IUT as Responder.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

CONFORMANCE_CASE(good_request_is_accepted,
                 rules("mpa.startup.acceptable-request-accepted", "mpa.startup.reply-key",
                       "mpa.startup.frame-layout", "mpa.startup.reserved-bits-sent-as-zero",
                       "mpa.private-data.length-field-matches"),
                 over_both_families) {
  establish({.judged_by = "mpa.startup.acceptable-request-accepted"});
  const auto reply = peer.raw().received_frame()->frame();
  expect_that(reply.private_data.empty(), "PD_Length 0",
              fmt::format("PD_Length {}", reply.private_data.size()), "mpa.startup.frame-layout");
  expect_still_working("mpa.startup.responder-ready-for-fpdus");
}

CONFORMANCE_CASE(reserved_flags_of_the_request_are_ignored,
                 rules("mpa.startup.reserved-bits-ignored")) {
  for (const std::uint8_t bit : std::initializer_list<std::uint8_t>{0x01, 0x02, 0x04, 0x08, 0x0F}) {
    row(fmt::format("flags {:#04x}", bit), [&] {
      establish({.request = mpa_request().with_flag(bit),
                 .judged_by = "mpa.startup.reserved-bits-ignored"});
      expect_still_working();
    });
  }
}

CONFORMANCE_CASE(r_bit_of_the_request_is_ignored, rules("mpa.startup.request-r-ignored")) {
  establish({.request = mpa_request().with_reject(), .judged_by = "mpa.startup.request-r-ignored"});
}

CONFORMANCE_CASE(request_with_another_key_closes,
                 rules("mpa.startup.responder-checks-key", "mpa.startup.bad-request-closes-tcp",
                       "mpa.startup.key-mismatch-closes",
                       "mpa.terminate.bad-startup-frame-closes-at-once")) {
  for (const char* key :
       {"MPA ID Rep Frame", "mPA ID Req Frame", "PA ID Req FrameM", "MPA ID Req Framf"}) {
    row(fmt::format("key '{}'", key), [&] {
      peer.connect();
      peer.send(mpa_request().with_key(key));
      expect(peer, torn_down());
      expect_none(connect_request());
    });
  }
}

CONFORMANCE_CASE(malformed_request_gets_no_reply, rules("mpa.startup.bad-request-closes-tcp")) {
  peer.connect();
  peer.send(mpa_request().with_key("MPA ID Req Fram\n"));
  expect(peer, torn_down());
}

CONFORMANCE_CASE(request_with_too_much_private_data_closes,
                 rules("mpa.private-data.oversize-closes",
                       "mpa.private-data.length-field-validated",
                       "mpa.private-data.failed-check-is-bad-frame")) {
  for (const std::uint16_t length : std::initializer_list<std::uint16_t>{513, 1024, 65535}) {
    row(fmt::format("PD_Length {}", length), [&] {
      peer.connect();
      peer.send(mpa_request().with_private_data(Octets(length)));
      expect(peer, torn_down());
      expect_none(connect_request());
    });
  }
}

CONFORMANCE_CASE(unknown_revision_closes,
                 rules("mpa.startup.revision-checked", "mpa.startup.unsupported-revision-closes")) {
  for (const std::uint8_t revision : std::initializer_list<std::uint8_t>{0x80, 0xFF}) {
    row(fmt::format("revision {}", revision), [&] {
      peer.connect();
      peer.send(mpa_request().with_revision(revision));
      expect(peer, torn_down());
    });
  }
}

CONFORMANCE_CASE(private_data_of_every_length_reaches_the_consumer,
                 rules("mpa.private-data.accepts-up-to-512", "mpa.private-data.passed-to-ulp",
                       "mpa.private-data.buffer-large-enough",
                       "mpa.private-data.zero-length-means-absent")) {
  for (const std::size_t length : {0, 1, 3, 255, 256, 257, 511, 512}) {
    row(fmt::format("{} octets", length), [&] {
      peer.connect();
      peer.send(mpa_request().with_private_data(payload(length)));
      const auto event = expect(iut, connect_request(), "mpa.private-data.accepts-up-to-512");
      const auto& request = std::get<iut::ConnectRequestEvent>(event);
      expect_that(!(length == 0 && !request.private_data.empty() &&
                    request.private_data != iut::Octets(request.private_data.size())),
                  "no private data", "private data", "mpa.private-data.zero-length-means-absent");
      expect_that(request.private_data.size() >= length, fmt::format("{} octets", length),
                  fmt::format("{} octets", request.private_data.size()),
                  length > 256 ? RuleRef("mpa.private-data.buffer-large-enough")
                               : RuleRef("mpa.private-data.passed-to-ulp"));
      expect_that(connect_request_with(payload(length)).matches(event), "the private data as sent",
                  "other octets", "mpa.private-data.passed-to-ulp");
    });
  }
}

CONFORMANCE_CASE(request_may_come_in_any_cut, rules("mpa.startup.responder-waits-for-request")) {
  for (const std::size_t octets : {1, 7, 19, 20, 21}) {
    row(fmt::format("segments of {} octets", octets), [&] {
      peer.connect();
      peer.send(mpa_request().with_private_data(payload(30)), Cut::every(octets));
      expect(iut, connect_request_with(payload(30)));
    });
  }
}

CONFORMANCE_CASE(nothing_is_sent_before_the_whole_request,
                 rules("mpa.startup.responder-waits-for-request")) {
  peer.connect();
  const Octets request = mpa_request().with_private_data(payload(8)).encode();
  peer.send_octets(rnic::wire::Bytes(request).first(request.size() - 1));
  expect(peer, silence());
  expect_none(connect_request());
}

CONFORMANCE_CASE(private_data_of_the_consumer_is_in_the_reply,
                 rules("mpa.private-data.accept-reply-may-carry",
                       "mpa.private-data.length-field-matches", "mpa.startup.frame-layout")) {
  const std::string words = "good morning";
  establish({.parameters = {.private_data = {words.begin(), words.end()}, .ird = {}, .ord = {}}});
  const auto reply = peer.raw().received_frame()->frame();
  const Octets wanted = octets(words);
  expect_that(std::equal(wanted.begin(), wanted.end(), reply.private_data.begin(),
                         reply.private_data.end()),
              "the consumer's private data", describe(reply));
  expect_still_working();
}

CONFORMANCE_CASE(rejection_is_told_by_r, rules("mpa.startup.reply-r-tells-rejection",
                                               "mpa.private-data.reject-reply-may-carry")) {
  peer.connect();
  peer.send(mpa_request());
  const auto event = expect(iut, connect_request());
  iut.reject(std::get<iut::ConnectRequestEvent>(event).request, octets("no"));
  const Arrival reply = expect(peer, rejecting_reply());
  const auto data = reply.as<ReceivedFrame>()->frame().private_data;
  expect_that(Octets(data.begin(), data.end()) == octets("no"), "the consumer's private data",
              reply.text(), "mpa.private-data.reject-reply-may-carry");
}

CONFORMANCE_CASE(responder_is_silent_before_the_first_fpdu,
                 rules("mpa.startup.responder-silent-before-first-fpdu")) {
  establish();
  const Work work = iut.post_send(payload(16));
  expect(peer, silence());
  let_iut_send();
  expect(peer, message(Opcode::send, payload(16)));
  expect(work, completes());
}

CONFORMANCE_CASE(m_in_the_request_demands_markers,
                 rules("mpa.startup.request-m-demands-markers", "mpa.markers.sender-able-to-insert",
                       "mpa.markers.added-when-peer-m-one", "mpa.markers.every-512-octets",
                       "mpa.markers.pointer-distance-to-header",
                       "mpa.markers.zero-pointer-between-fpdus",
                       "mpa.markers.counted-in-containing-crc", "mpa.crc.covers-leading-marker"),
                 rules("mpa.markers.reserved-sent-as-zero",
                       "mpa.markers.pointer-counts-from-length-field",
                       "mpa.markers.pointer-low-bits-sent-as-zero")) {
  establish({.request = mpa_request().with_markers(true)});
  let_iut_send();
  for (const std::size_t size : {0, 1, 480, 500, 5000}) {
    const Work work = iut.post_send(payload(size));
    expect(peer, message(Opcode::send, payload(size)));
    expect(work, completes());
  }
}

CONFORMANCE_CASE(without_m_there_are_no_markers, rules("mpa.markers.none-when-peer-m-zero")) {
  establish();
  let_iut_send();
  const Work work = iut.post_send(payload(3000));
  expect(peer, message(Opcode::send, payload(3000)));
}

CONFORMANCE_CASE(several_connections_start_side_by_side,
                 rules("mpa.startup.acceptable-request-accepted")) {
  Peer& half_open = another_peer();
  expect_that(half_open.connect(iut_address()).has_value(), "a connection", "none");
  half_open.send_octets(rnic::wire::Bytes(mpa_request().encode())
                            .first(10));  // and no more: it must not hold up others
  establish({.judged_by = "mpa.startup.acceptable-request-accepted"});
  Peer& third = another_peer();
  establish(third, {.endpoint = iut.create_endpoint(),
                    .judged_by = "mpa.startup.acceptable-request-accepted"});
  expect_still_working();
}

CASES_OF_FILE(mpa, startup_responder)

}  // namespace suite::cases
