// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5044 section 7.1: MPA startup with the IUT as Initiator.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

CONFORMANCE_CASE(request_is_well_formed,
                 rules("mpa.startup.initiator-sends-valid-request", "mpa.startup.request-key",
                       "mpa.startup.request-r-sent-as-zero",
                       "mpa.startup.reserved-bits-sent-as-zero", "mpa.crc.default-is-enabled",
                       "mpa.startup.revision-one-sent"),
                 as_initiator, over_both_families) {
  let_iut_connect();
  const auto frame = expect(peer, mpa_frame()).as<ReceivedFrame>()->frame();
  expect_that(frame.revision == 1 || frame.revision == 2, "revision 1 or 2", describe(frame),
              "mpa.startup.revision-one-sent");
  expect_that(frame.flags.crc(), "C set", describe(frame), "mpa.crc.default-is-enabled");
}

CONFORMANCE_CASE(revision_one_request_is_plain,
                 rules("mpa.startup.revision-one-sent", "mpa.enhanced.s-zero-means-plain-frame"),
                 as_initiator, configured({.revision = 1})) {
  let_iut_connect({.private_data = {1, 2, 3}, .ird = {}, .ord = {}});
  const auto arrival = expect(peer, mpa_frame());
  const auto frame = arrival.as<ReceivedFrame>()->frame();
  expect_that(frame.revision == 1 && !frame.flags.enhanced(), "revision 1, S clear",
              arrival.text());
  expect_that(frame.private_data.size() == 3, "three octets of private data", arrival.text(),
              "mpa.enhanced.s-zero-means-plain-frame");
}

CONFORMANCE_CASE(private_data_of_the_consumer_is_in_the_request,
                 rules("mpa.private-data.request-may-carry",
                       "mpa.private-data.length-field-matches"),
                 as_initiator) {
  for (const std::size_t length : {1, 100, 255}) {
    row(fmt::format("{} octets", length), [&] {
      const iut::Octets data(length, 0x5C);
      let_iut_connect({.private_data = data, .ird = {}, .ord = {}});
      const auto arrival = expect(peer, mpa_frame());
      const auto seen = arrival.as<ReceivedFrame>()->frame().ulp_private_data();
      expect_that(Octets(seen.begin(), seen.end()) == Octets(length, std::byte{0x5C}),
                  "the consumer's private data", arrival.text(),
                  "mpa.private-data.length-field-matches");
    });
  }
}

CONFORMANCE_CASE(accepting_reply_establishes,
                 rules("mpa.startup.accepted-initiator-enters-full-operation",
                       "mpa.startup.initiator-validates-reply"),
                 as_initiator) {
  let_iut_connect();
  expect(peer, mpa_frame());
  expect_none(established(), "mpa.startup.initiator-validates-reply");
  peer.send(
      mpa_reply_to(peer.raw().received_frame()->frame()).with_private_data(octets("welcome")));
  expect(iut, established_with(octets("welcome")),
         "mpa.startup.accepted-initiator-enters-full-operation");
  const Work work = iut.post_send(payload(16));
  expect(peer, message(Opcode::send, payload(16)),
         "mpa.startup.accepted-initiator-enters-full-operation");
  expect(work, completes());
}

CONFORMANCE_CASE(nothing_is_sent_before_the_reply, rules("mpa.startup.no-fpdu-before-both-frames"),
                 as_initiator) {
  let_iut_connect();
  expect(peer, mpa_frame());
  // A consumer's work may be refused by the API before the connection is up; what is taken has to
  // wait.
  iut::PostWork early;
  early.endpoint = iut.endpoint();
  early.work = 4711;
  early.operation = operation::send;
  static_cast<void>(iut.try_call(early, "post a send before the reply"));
  expect(peer, silence());
  peer.send(mpa_reply_to(peer.raw().received_frame()->frame()));
  expect(iut, established());
}

CONFORMANCE_CASE(reply_with_another_key_closes,
                 rules("mpa.startup.initiator-checks-key", "mpa.startup.bad-reply-closes-tcp",
                       "mpa.startup.initiator-reports-bad-key",
                       "mpa.startup.double-initiator-detected"),
                 as_initiator) {
  for (const char* key : {"MPA ID Req Frame", "MPA ID Rep Framf", "nPA ID Rep Frame"}) {
    row(fmt::format("key '{}'", key), [&] {
      let_iut_connect();
      expect(peer, mpa_frame());
      peer.send(mpa_reply().with_key(key));
      expect(peer, torn_down());
      expect(iut, connect_failed() | rejected(), "mpa.startup.initiator-reports-bad-key");
    });
  }
}

CONFORMANCE_CASE(reply_with_too_much_private_data_closes, rules("mpa.private-data.oversize-closes"),
                 as_initiator) {
  let_iut_connect();
  expect(peer, mpa_frame());
  peer.send(mpa_reply().with_private_data(Octets(513)));
  expect(peer, torn_down());
}

CONFORMANCE_CASE(reserved_flags_of_the_reply_are_ignored,
                 rules("mpa.startup.reserved-bits-ignored"), as_initiator) {
  establish({.reply = [](const auto& request) { return mpa_reply_to(request).with_flag(0x0F); },
             .opening = true,
             .judged_by = "mpa.startup.reserved-bits-ignored"});
  expect_still_working();
}

CONFORMANCE_CASE(rejection_reaches_the_consumer,
                 rules("mpa.startup.reply-r-tells-rejection",
                       "mpa.startup.rejected-initiator-exits-mpa"),
                 as_initiator) {
  let_iut_connect();
  expect(peer, mpa_frame());
  peer.send(mpa_reply_to(peer.raw().received_frame()->frame())
                .with_reject()
                .with_private_data(octets("busy")));
  const auto event = expect(iut, rejected() | established() | connect_failed());
  expect_that(!std::holds_alternative<iut::EstablishedEvent>(event), "no established event",
              describe(event), "mpa.startup.rejected-initiator-exits-mpa");
  expect_that(rejected_with(octets("busy")).matches(event), "a rejection with its private data",
              describe(event), "mpa.startup.reply-r-tells-rejection");
}

CONFORMANCE_CASE(reply_may_come_in_any_cut, rules("mpa.startup.initiator-validates-reply"),
                 as_initiator) {
  for (const std::size_t length : {1, 11, 20}) {
    row(fmt::format("segments of {} octets", length), [&] {
      let_iut_connect();
      expect(peer, mpa_frame());
      peer.send(mpa_reply_to(peer.raw().received_frame()->frame()).with_private_data(payload(30)),
                Cut::every(length));
      expect(iut, established_with(payload(30)));
      expect_none(established());
    });
  }
}

CONFORMANCE_CASE(m_in_the_reply_demands_markers,
                 rules("mpa.startup.reply-m-demands-markers", "mpa.markers.added-when-peer-m-one"),
                 as_initiator) {
  establish(
      {.reply = [](const auto& request) { return mpa_reply_to(request).with_markers(true); }});
  const Work work = iut.post_send(payload(3000));
  expect(peer, message(Opcode::send, payload(3000)));
  expect(work, completes());
}

CASES_OF_FILE(mpa, startup_initiator)

}  // namespace suite::cases
