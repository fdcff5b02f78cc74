// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5044 section 7.1: MPA startup with the IUT as Initiator.
#include "suite/cases/mpa/startup_steps.hpp"

namespace suite::cases {

using namespace startup;  // NOLINT(google-build-using-namespace): the steps are the cases' words

namespace {

constexpr std::string_view request_key = "MPA ID Req Frame", reply_key = "MPA ID Rep Frame";

/// How an API reports that a connection did not come up: some have one event for all reasons.
ExpectedEvent failure() { return connect_failed() | rejected(); }

}  // namespace

// ---------------------------------------------------------------- the Request (7.1.1)

CONFORMANCE_CASE(request_begins_with_the_key_of_an_initiator, rules("mpa.startup.request-key"),
                 as_initiator, over_both_families) {
  let_iut_connect();
  const Octets key = octets(request_key);
  expect(peer.raw(),
         Expected("a frame that begins with \"MPA ID Req Frame\"", [&](const Arrival& arrival) {
           const auto* frame = arrival.as<ReceivedFrame>();
           return frame != nullptr && std::ranges::equal(key, std::span(frame->octets).first(16));
         }));
}

CONFORMANCE_CASE(request_is_laid_out_as_figure_8_shows,
                 rules("mpa.startup.frame-layout", "mpa.startup.initiator-sends-valid-request",
                       "mpa.enhanced.not-used-without-need"),
                 as_initiator) {
  let_iut_connect(with_private_data(payload(8)));
  // An API may pad what its consumer sends.
  const Arrival request =
      expect(peer.raw(), mpa_frame("the consumer's 8 octets in front, counted by PD_Length",
                                   [](const wire::MpaFrame& frame) {
                                     const auto data = frame.ulp_private_data();
                                     return data.size() >= 8 &&
                                            std::ranges::equal(data.first(8), payload(8));
                                   }));
  // Whether it wants that is known to itself alone (docs/disputes.md D97).
  const auto words = words_of(*request.as<ReceivedFrame>());
  const bool asks = !words || words->peer_to_peer || words->ird != wire::read_depth_unnegotiated ||
                    words->ord != wire::read_depth_unnegotiated;
  advise_that(asks, "no enhanced Request that asks for nothing", request.text(),
              "mpa.enhanced.not-used-without-need");
}

CONFORMANCE_CASE(rejection_flag_of_the_request_is_clear,
                 rules("mpa.startup.request-r-sent-as-zero"), as_initiator) {
  let_iut_connect();
  expect(peer.raw(),
         mpa_frame("R clear", [](const wire::MpaFrame& frame) { return !frame.flags.reject(); }));
}

CONFORMANCE_CASE(plain_request_has_revision_one_and_no_reserved_flags,
                 rules("mpa.startup.revision-one-sent", "mpa.startup.reserved-bits-sent-as-zero"),
                 as_initiator, configured({.revision = 1})) {
  let_iut_connect();
  const Arrival request = expect(
      peer.raw(), mpa_frame("Rev 1", [](const wire::MpaFrame& f) { return f.revision == 1; }));
  expect_that((request.as<ReceivedFrame>()->frame().flags.octet & 0x1F) == 0, "reserved flags zero",
              request.text(), "mpa.startup.reserved-bits-sent-as-zero");
}

CONFORMANCE_CASE(nothing_follows_the_request_before_the_reply,
                 rules("mpa.startup.no-fpdu-before-both-frames"), as_initiator) {
  const ReceivedFrame request = request_of(*this);
  const bool taken = try_to_send(*this, octets("early"));
  expect(peer.raw(), silence());
  peer.raw().send(accepting(*this, request));  // octets that arrived before this are judged
  if (taken) expect(peer.raw(), message(Opcode::send, octets("early")));
}

// ---------------------------------------------------------------- a good Reply

CONFORMANCE_CASE(accepting_reply_opens_full_operation,
                 rules("mpa.startup.accepted-initiator-enters-full-operation"), as_initiator,
                 over_both_families) {
  // Either side may ask for CRCs alone (RFC 5044 section 7.1.1).
  for (const bool crc : {true, false}) {
    row(crc ? "C set" : "C clear", [&] {
      const ReceivedFrame request = request_of(*this);
      peer.raw().send(accepting(*this, request).with_crc(crc));
      expect(iut, established());
      expect_to_speak(*this);
    });
  }
}

CONFORMANCE_CASE(reply_in_pieces_gives_one_event, rules("mpa.startup.initiator-validates-reply"),
                 as_initiator) {
  const auto taken_once = [&] {
    expect(iut, established());
    expect_to_speak(*this);
    expect_none(established());
  };
  for (const std::size_t cut : {1, 16, 19, 20, 30}) {
    row(fmt::format("the first {} octets alone", cut), [&] {
      const StartupFrame reply = accepting(*this, request_of(*this)).with_private_data(payload(16));
      peer.raw().send_octets(wire::Bytes(reply.encode()).first(cut));
      expect_none(established());
      peer.raw().send_rest(reply, cut);
      taken_once();
    });
  }
  row("octet by octet", [&] {
    const StartupFrame reply = accepting(*this, request_of(*this)).with_private_data(payload(16));
    const Octets all = reply.encode();
    peer.raw().send_octets(wire::Bytes(all).first(all.size() - 1), Cut::single_octets());
    expect_none(established());
    peer.raw().send_rest(reply, all.size() - 1);
    taken_once();
  });
}

CONFORMANCE_CASE(reserved_flags_of_the_reply_are_ignored,
                 rules("mpa.startup.reserved-bits-ignored"), as_initiator) {
  for (const std::uint8_t bit : std::initializer_list<std::uint8_t>{0x01, 0x02, 0x04, 0x08}) {
    row(fmt::format("flag {:#04x}", bit), [&] {
      const ReceivedFrame request = request_of(*this);
      peer.raw().send(accepting(*this, request).with_flag(bit));
      expect(iut, established());
      expect_to_speak(*this);
    });
  }
}

CONFORMANCE_CASE(fpdu_immediately_after_the_reply_is_not_lost,
                 rules("mpa.startup.ddp-bound-before-full-operation"), as_initiator) {
  const ReceivedFrame request = request_of(*this);
  if (const auto words = words_of(request); words && words->peer_to_peer)
    throw lacking_rtr_kind("the IUT's RTR indication has to come first");
  const StartupFrame reply = accepting(*this, request);
  Region target = iut.register_memory(16, access::remote_write);
  const Fpdu fpdu = rdma_write(target.stag, target.base, payload(16)).segments(1024, 1).front();
  const Octets behind = encode(fpdu, {.crc = true, .markers = request.frame().flags.markers()});
  Octets data = reply.private_data;
  data.insert(data.end(), behind.begin(), behind.end());
  const auto counted = static_cast<std::uint16_t>(reply.enhanced ? 4 : 0);
  peer.raw().send(reply.with_private_data(data).with_pd_length(counted));
  peer.raw().sending().position += behind.size();
  // The tester is early (rule 4), so the octets may be treated as a wrong PD_Length
  // (docs/disputes.md D11).
  const iut::Event event = expect(iut, established() | failure());
  const bool up = std::holds_alternative<iut::EstablishedEvent>(event);
  advise_that(up, "the FPDU accepted", describe(event));
  if (!up) return;
  expect_to_speak(*this);
  expect(target, holds(payload(16)));
}

CONFORMANCE_CASE(m_in_the_reply_requires_markers,
                 rules("mpa.startup.reply-m-demands-markers", "mpa.markers.added-when-peer-m-one"),
                 as_initiator) {
  establish(
      {.reply = [](const auto& request) { return mpa_reply_to(request).with_markers(true); }});
  const Work work = iut.post_send(payload(3000));
  expect(peer, message(Opcode::send, payload(3000)), "mpa.markers.added-when-peer-m-one");
  expect(work, completes());
}

// ---------------------------------------------------------------- a Reply that ends in a close

CONFORMANCE_CASE(reply_with_a_wrong_key_is_refused,
                 rules("mpa.startup.initiator-checks-key", "mpa.startup.initiator-reports-bad-key"),
                 as_initiator) {
  const auto refused = [&](const std::string& key) {
    const ReceivedFrame request = request_of(*this);
    peer.raw().send(accepting(*this, request).with_key(key));
    expect(peer.raw(), torn_down());
    expect(iut, failure(), "mpa.startup.initiator-reports-bad-key");
  };
  for (std::size_t at = 0; at < reply_key.size(); ++at) {
    std::string key(reply_key);
    key[at] = static_cast<char>(key[at] ^ 0x20);
    row(fmt::format("octet {} wrong", at), [&] { refused(key); });
  }
}

CONFORMANCE_CASE(request_in_place_of_the_reply_is_refused,
                 rules("mpa.startup.double-initiator-detected"), as_initiator) {
  const ReceivedFrame request = request_of(*this);
  peer.raw().send(accepting(*this, request).with_key(request_key));
  expect(peer.raw(), torn_down());
  expect(iut, failure());
}

CONFORMANCE_CASE(unknown_revision_of_the_reply_is_refused,
                 rules("mpa.startup.revision-checked", "mpa.startup.unsupported-revision-reported"),
                 as_initiator) {
  for (const std::uint8_t revision : std::initializer_list<std::uint8_t>{0xFF, 0}) {
    row(fmt::format("revision {}", revision), [&] {
      const ReceivedFrame request = request_of(*this);
      peer.raw().send(accepting(*this, request).with_revision(revision));
      // An IUT that can work with the revision need not close (docs/disputes.md D61).
      const auto up =
          iut.take(established().matches, context().loop.now() + environment().quiet_window);
      advise_that(!up.has_value(), "the connection given up", up ? describe(*up) : "no connection");
      if (up) return;
      expect(peer.raw(), torn_down());
      expect(iut, failure(), "mpa.startup.unsupported-revision-reported");
    });
  }
}

CONFORMANCE_CASE(malformed_reply_is_answered_only_by_a_close,
                 rules("mpa.startup.bad-reply-closes-tcp"),
                 rules("mpa.private-data.failed-check-is-bad-frame"), as_initiator) {
  const auto refused = [&](const std::function<StartupFrame(const StartupFrame&)>& change,
                           RuleRef rule) {
    const ReceivedFrame request = request_of(*this);
    peer.raw().send(change(accepting(*this, request)));
    expect(peer.raw(), torn_down(), rule);
    expect_none(established(), rule);
  };
  row("a wrong key", [&] {
    refused([](auto& reply) { return reply.with_key(request_key); },
            "mpa.startup.bad-reply-closes-tcp");
  });
  row("too much Private Data", [&] {
    refused([](auto& reply) { return reply.with_private_data(payload(513)); },
            "mpa.private-data.failed-check-is-bad-frame");
  });
}

CONFORMANCE_CASE(missing_reply_times_out, rules("mpa.startup.frames-time-out"), as_initiator,
                 deadline_of(std::chrono::seconds(40))) {
  static_cast<void>(request_of(*this));
  expect_by_deadline(peer.raw(), torn_down() | advisory(silence()));
}

CONFORMANCE_CASE(reply_cut_short_is_reported, rules("mpa.private-data.length-mismatch-reported"),
                 as_initiator) {
  const ReceivedFrame request = request_of(*this);
  peer.raw().send(accepting(*this, request).with_private_data(payload(8)).with_pd_length(24));
  peer.half_close();
  expect(iut, failure());
}

// ---------------------------------------------------------------- the consumer's part

CONFORMANCE_CASE(consumer_may_close_because_of_the_private_data_of_the_reply,
                 rules("mpa.startup.unacceptable-reply-data-exits-mpa",
                       "mpa.private-data.initiator-ulp-may-close"),
                 as_initiator, over_both_families) {
  const ReceivedFrame request = request_of(*this);
  if (const auto words = words_of(request); words && words->peer_to_peer)
    throw lacking_rtr_kind("the IUT's RTR indication comes first");
  peer.raw().send(accepting(*this, request).with_private_data(payload(8)));
  expect(iut, established());
  iut.disconnect();
  expect(peer.raw(), fin() | advisory(connection_reset()));  // and no FPDU before it
  peer.half_close();
  expect(iut, disconnected(), "mpa.private-data.initiator-ulp-may-close");
}

// ---------------------------------------------------------------- rejection

CONFORMANCE_CASE(rejected_initiator_leaves_mpa,
                 rules("mpa.startup.rejected-initiator-exits-mpa",
                       "mpa.startup.reply-r-tells-rejection", "mpa.private-data.passed-to-ulp"),
                 as_initiator) {
  const ReceivedFrame request = request_of(*this);
  peer.raw().send(accepting(*this, request).with_reject().with_private_data(payload(8)));
  expect_none(established());
  // Which side closes, and whether, is open (docs/disputes.md D4).
  expect(peer.raw(), torn_down() | silence());
  const iut::Event event = expect(iut, rejected(), "mpa.startup.reply-r-tells-rejection");
  const Octets shown = std::get<iut::RejectedEvent>(event).private_data;
  advise_that(shown == payload(8), "the Private Data as sent",
              fmt::format("{} octets", shown.size()), "mpa.private-data.passed-to-ulp");
}

CASES_OF_FILE(mpa, startup_initiator)

}  // namespace suite::cases
