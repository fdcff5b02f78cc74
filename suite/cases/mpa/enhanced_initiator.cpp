// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 6581 sections 6, 8 and 9: enhanced set-up with the IUT as Initiator.
#include "suite/cases/mpa/startup_steps.hpp"

namespace suite::cases {

using namespace startup;  // NOLINT(google-build-using-namespace): the steps are the cases' words

namespace {

constexpr std::uint16_t all_ones = 0x3FFF;

StartupFrame accepting_with_depths(const Body& on, const ReceivedFrame& request, std::uint16_t ird,
                                   std::uint16_t ord) {
  return accepting_with(on, request, [=](Words& words) {
    words.ird = ird;
    words.ord = ord;
  });
}

constexpr Depths told_depths[] = {{3, 2}, {0, 2}, {3, 0}};

void expect_depths_told(Body& on, const Depths& depths) {
  const ReceivedFrame request = enhanced_request_of(on, 4, 4);
  on.peer.raw().send(accepting_with_depths(on, request, depths.ird, depths.ord));
  const auto event = on.iut.take<iut::EstablishedEvent>(on.context().deadline);
  if (!event) on.stop(Verdict::inconclusive, "no established event; " + on.iut.untaken());
  expect_told(on, *event, depths);
}

/// In the peer-to-peer model the first FPDU is the RTR indication, which not every case judges.
void pass_rtr(Body& test, const ReceivedFrame& request) {
  if (!words_of(request)->peer_to_peer) return;
  const Arrival rtr = test.peer.raw().next(test.context().deadline);
  const auto* message = rtr.as<Message>();
  const auto read = message != nullptr ? message->read_request() : std::nullopt;
  // Until it is answered it takes one of the peer's inbound Reads.
  if (read) test.peer.send(read_response(read->sink_stag, read->sink_offset, {}));
}

}  // namespace

// ---------------------------------------------------------------- the Request (6, 9)

CONFORMANCE_CASE(enhanced_request_has_its_revision_and_data,
                 rules("mpa.enhanced.revision-two-or-higher",
                       "mpa.enhanced.private-data-starts-with-enhanced-data"),
                 needs(capability::enhanced_startup), as_initiator) {
  const ReceivedFrame request = request_of(*this);
  const wire::MpaFrame frame = request.frame();
  if (!frame.flags.enhanced()) stop(Verdict::not_applicable, "the IUT sends no enhanced Request");
  expect_that(frame.revision >= 2, "Rev 2 or higher with S", wire::describe(frame));
  expect_that(frame.private_data.size() >= 4, "the enhanced data", wire::describe(frame),
              "mpa.enhanced.private-data-starts-with-enhanced-data");
}

CONFORMANCE_CASE(pd_length_of_the_request_counts_the_enhanced_data,
                 rules("mpa.enhanced.pd-length-includes-enhanced-data"),
                 needs(capability::enhanced_startup), as_initiator) {
  const ReceivedFrame request = request_of(*this, with_private_data(payload(8)));
  const wire::MpaFrame frame = request.frame();
  if (!frame.flags.enhanced()) stop(Verdict::not_applicable, "the IUT sends no enhanced Request");
  expect_that(
      frame.private_data.size() == 12 && std::ranges::equal(frame.private_data.last(8), payload(8)),
      "PD_Length 12, the consumer's 8 octets last", wire::describe(frame));
}

CONFORMANCE_CASE(request_words_have_ird_first,
                 rules("mpa.enhanced.data-layout", "mpa.enhanced.network-byte-order",
                       "mpa.enhanced.initiator-ord-is-request"),
                 needs(capability::enhanced_startup), as_initiator) {
  const Words words = *words_of(enhanced_request_of(*this, 5, 3));
  const std::string actual = fmt::format("IRD {}, ORD {}", words.ird, words.ord);
  expect_that(words.ord % 256 != 0, "ORD 3 in network byte order", actual,
              "mpa.enhanced.network-byte-order");
  expect_that(words.ird >= 5, "IRD of at least 5", actual);
  expect_that(words.ord <= 3, "ORD of at most 3", actual, "mpa.enhanced.initiator-ord-is-request");
}

CONFORMANCE_CASE(client_server_request_has_flag_a_clear,
                 rules("mpa.enhanced.client-server-clears-flag-a",
                       "mpa.enhanced.rtr-flags-zero-without-a"),
                 needs(capability::enhanced_startup, capability::configure_rtr), as_initiator) {
  const ReceivedFrame request = enhanced_request_of(*this);
  const Words words = *words_of(request);
  expect_that(!words.peer_to_peer, "A clear", wire::describe(request.frame()));
  expect_that(!words.rtr_send && !words.rtr_write && !words.rtr_read, "B, C and D clear",
              wire::describe(request.frame()), "mpa.enhanced.rtr-flags-zero-without-a");
}

CONFORMANCE_CASE(peer_to_peer_request_sets_flag_a, rules("mpa.enhanced.peer-to-peer-sets-flag-a"),
                 needs(capability::enhanced_startup), as_initiator,
                 configured({.peer_to_peer = true, .rtr = {"write"}})) {
  const ReceivedFrame request = enhanced_request_of(*this);
  expect_that(words_of(request)->peer_to_peer, "A set", wire::describe(request.frame()));
}

CONFORMANCE_CASE(peer_to_peer_request_offers_all_rtr_kinds,
                 rules("mpa.enhanced.initiator-offers-all-rtr-kinds"),
                 needs(capability::enhanced_startup), as_initiator,
                 configured({.peer_to_peer = true, .rtr = {"write", "read"}})) {
  const ReceivedFrame request = enhanced_request_of(*this);
  const Words words = *words_of(request);
  expect_that(words.rtr_write && words.rtr_read, "C and D, which the IUT supports",
              wire::describe(request.frame()));
}

// ---------------------------------------------------------------- IRD and ORD (9.1)

CONFORMANCE_CASE(consumer_learns_the_responders_depths,
                 rules("mpa.enhanced.initiator-tells-ulp-peer-values"),
                 needs(capability::enhanced_startup), as_initiator) {
  for (const Depths& depths : told_depths)
    row(depths.text(), [&] { expect_depths_told(*this, depths); });
}

CONFORMANCE_CASE(consumer_learns_the_responders_depths_in_the_peer_to_peer_model,
                 rules("mpa.enhanced.initiator-tells-ulp-peer-values"),
                 needs(capability::enhanced_startup), as_initiator,
                 configured({.peer_to_peer = true, .rtr = {"write"}})) {
  for (const Depths& depths : told_depths)
    row(depths.text(), [&] { expect_depths_told(*this, depths); });
}

CONFORMANCE_CASE(initiator_respects_the_responders_ird,
                 rules("mpa.enhanced.initiator-ord-at-most-responder-ird"),
                 needs(capability::enhanced_startup), as_initiator) {
  const ReceivedFrame request = enhanced_request_of(*this, 4, 4);
  peer.raw().send(accepting_with_depths(*this, request, 1, 4));
  expect(iut, established());
  pass_rtr(*this, request);
  expect_one_read_at_a_time(*this);
}

CONFORMANCE_CASE(reads_are_served_up_to_the_initiators_ird,
                 rules("mpa.enhanced.initiator-ird-is-capacity"),
                 needs(capability::enhanced_startup), as_initiator) {
  const ReceivedFrame request = enhanced_request_of(*this, 4, 4);
  const std::uint16_t ird = words_of(request)->ird;
  if (ird == all_ones) stop(Verdict::not_applicable, "the IUT does not state its IRD");
  peer.raw().send(accepting_with_depths(*this, request, 4, ird));
  expect(iut, established());
  expect_to_speak(*this);
  expect_reads_served(*this, ird);
}

CONFORMANCE_CASE(initiator_serves_as_many_reads_as_the_responder_may_send,
                 rules("mpa.enhanced.initiator-ird-at-least-responder-ord"),
                 needs(capability::enhanced_startup), as_initiator) {
  for (const std::uint16_t ord : std::initializer_list<std::uint16_t>{1, 2, 4}) {
    row(fmt::format("ORD {}", ord), [&] {
      const ReceivedFrame request = enhanced_request_of(*this, 4, 4);
      peer.raw().send(accepting_with_depths(*this, request, 4, ord));
      expect(iut, established());
      expect_to_speak(*this);
      expect_reads_served(*this, ord);
    });
  }
  // More than the Request stated: the IUT raises its IRD, or says that it cannot.
  row("ORD 5, one more than its IRD", [&] {
    const ReceivedFrame request = enhanced_request_of(*this, 4, 4);
    peer.raw().send(accepting_with_depths(*this, request, 4, 5));
    const iut::Event outcome = expect(iut, established() | connect_failed() | disconnected());
    if (!std::holds_alternative<iut::EstablishedEvent>(outcome)) return;
    expect_to_speak(*this);
    // While the first Response cannot be sent, none of the Requests is done.
    const Region much = iut.register_memory(much_data().size(), access::remote_read);
    const auto read = [&](std::size_t length) {
      return read_request({.sink_stag = 0x1234,
                           .length = static_cast<std::uint32_t>(length),
                           .source_stag = much.stag,
                           .source_offset = much.base});
    };
    peer.stall();
    peer.send_together({read(much.length), read(1), read(1), read(1), read(1)});
    watch();
    peer.resume();
    for (int i = 0; i < 5; ++i) expect(peer, message(Opcode::read_response));
  });
}

CONFORMANCE_CASE(reply_ird_of_all_ones_leaves_the_initiators_ord,
                 rules("mpa.enhanced.reply-ird-all-ones-keeps-ord"),
                 needs(capability::enhanced_startup), as_initiator) {
  const ReceivedFrame request = enhanced_request_of(*this, 4, 2);
  peer.raw().send(accepting_with_depths(*this, request, all_ones, 4));
  expect(iut, established());
  pass_rtr(*this, request);
  for (int i = 0; i < 4; ++i) static_cast<void>(iut.post_read(8, 0x1234, 0));
  expect_message(Opcode::read_request);
  const std::size_t more = reads_coming(*this).size();
  expect_that(more <= 1, "at most two Read Requests, the consumer's ORD",
              fmt::format("{}", more + 1));
}

CONFORMANCE_CASE(reply_ord_of_all_ones_is_no_depth,
                 rules("mpa.enhanced.reply-ord-all-ones-keeps-ird"),
                 needs(capability::enhanced_startup), as_initiator) {
  const ReceivedFrame request = enhanced_request_of(*this, 2, 2);
  peer.raw().send(accepting_with_depths(*this, request, 2, all_ones));
  expect(iut, established());  // and no Terminate about too small an IRD
  expect_to_speak(*this);
}

CONFORMANCE_CASE(consumer_learns_the_depths_of_a_rejection,
                 rules("mpa.enhanced.reject-values-to-ulp"), needs(capability::enhanced_startup),
                 as_initiator) {
  for (const Depths& depths : told_depths)
    row(depths.text(), [&] {
      const ReceivedFrame request = enhanced_request_of(*this, 4, 4);
      peer.raw().send(accepting_with_depths(*this, request, depths.ird, depths.ord).with_reject());
      const iut::Event event = expect(iut, rejected());
      expect_told(*this, std::get<iut::RejectedEvent>(event), depths);
    });
}

CONFORMANCE_CASE(reads_immediately_after_the_rtr_are_served,
                 rules("mpa.enhanced.initiator-adjusts-before-rtr"),
                 needs(capability::enhanced_startup), as_initiator,
                 configured(peer_to_peer_model)) {
  const ReceivedFrame request = enhanced_request_of(*this, 4, 4);
  const std::uint16_t ird = words_of(request)->ird;
  if (ird == all_ones) stop(Verdict::not_applicable, "the IUT does not state its IRD");
  peer.raw().send(accepting_with_depths(*this, request, 4, ird));
  const Arrival rtr = expect(peer.raw(), any_rtr_indication());
  answer_rtr(*this, *rtr.as<Message>());
  expect_reads_served(*this, ird);
}

CONFORMANCE_CASE(insufficient_ird_is_reported_by_a_terminate,
                 rules("mpa.enhanced.insufficient-ird-sends-term",
                       "mpa.enhanced.insufficient-ird-code-six",
                       "mpa.enhanced.insufficient-ird-ends-connection"),
                 needs(capability::enhanced_startup), as_initiator) {
  constexpr std::uint16_t enormous = 0x3FFE;
  const ReceivedFrame request = enhanced_request_of(*this, 1, 1);
  const auto& limits = environment().iut.hello().limits;
  const auto limit = limits.find("max_ird");
  if (limit == limits.end() || limit->second >= enormous)
    stop(Verdict::not_applicable, "it is not known what exceeds the IUT's IRD");
  peer.raw().send(accepting_with_depths(*this, request, 1, enormous));
  const Arrival end = expect(peer.raw(), any_terminate() | advisory(torn_down()));
  if (!end.is_end()) {
    const auto terminate = end.terminate();
    expect_that(terminate && terminate->cause == cause::mpa_insufficient_ird, "the triplet 2/0/06",
                end.text(), "mpa.enhanced.insufficient-ird-code-six");
    expect_connection_ends(*this, "mpa.enhanced.insufficient-ird-ends-connection");
  }
}

// ---------------------------------------------------------------- other Replies (6, 10)

CONFORMANCE_CASE(reply_without_room_for_enhanced_data_is_refused,
                 rules("mpa.enhanced.short-private-data-is-bad-frame"),
                 needs(capability::enhanced_startup), as_initiator) {
  for (const std::size_t length : {0, 3}) {
    row(fmt::format("PD_Length {}", length), [&] {
      const ReceivedFrame request = enhanced_request_of(*this);
      StartupFrame reply = accepting(*this, request);
      reply.enhanced.reset();
      peer.raw().send(reply.with_private_data(payload(length)));
      // To leave MPA, and TCP open, is a reading (docs/disputes.md D61).
      expect(peer.raw(), torn_down() | advisory(silence()));
      const auto until = context().loop.now() + environment().quiet_window;
      expect_that(!iut.take(established().matches, until), "no connection", "one is established");
    });
  }
}

CONFORMANCE_CASE(close_by_an_unenhanced_responder_is_reported,
                 rules("mpa.enhanced.unsupported-reported-locally"),
                 needs(capability::enhanced_startup), as_initiator) {
  static_cast<void>(enhanced_request_of(*this));
  stop_listening();   // it may try again without the enhancement
  peer.half_close();  // as an implementation of revision 1 only does
  expect(iut, connect_failed() | rejected());
}

CASES_OF_FILE(mpa, enhanced_initiator)

}  // namespace suite::cases
