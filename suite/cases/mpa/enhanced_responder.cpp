// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 6581 sections 6, 9.1 and 10: enhanced set-up with the IUT as Responder: its frames, IRD and
// ORD. Connection models are in responder_rtr.cpp.
#include "reference_rnic/wire/notation.hpp"
#include "suite/cases/framework/limits.hpp"
#include "suite/cases/mpa/startup_steps.hpp"

namespace suite::cases {

using namespace startup;  // NOLINT(google-build-using-namespace): the steps are the cases' words

namespace {

constexpr std::uint16_t all_ones = 0x3FFF;

/// An ORD that an Initiator with this IRD can use. All ones in answer to a number leave the depth
/// to the consumers, which RFC 6581 section 9.1 neither permits nor forbids (docs/disputes.md D59).
Expected reply_ord_within(std::uint16_t ird) {
  return reply_words(fmt::format("ORD of at most {}", ird),
                     [=](const Words& words) { return words.ord <= ird; }) |
         advisory(reply_words("ORD 0x3fff", [](const Words& w) { return w.ord == all_ones; }));
}

/// What the IUT has sent after its Reply, undecoded.
Octets octets_after_reply(Body& on) {
  Octets all;
  for (const auto& mark : on.context().evidence.connections.back().marks) {
    if (mark.kind == ConnectionRecord::Mark::Kind::data && mark.direction == Direction::from_iut)
      all.insert(all.end(), mark.octets.begin(), mark.octets.end());
  }
  const std::size_t reply = on.peer.raw().received_frame()->octets.size();
  return part_of(all, reply, all.size() - reply);
}

/// Accepts with a larger ORD than the Initiator's IRD allows, which an API may refuse.
void accept_wanting(Body& on, int ird, int ord) {
  const iut::Accept command{asked(on).request, on.iut.endpoint(), with_depths(ird, ord)};
  if (const auto beyond = beyond_limits(command, on.iut.limits()))
    throw lacking_limit(beyond->limit, beyond->text);
  if (on.iut.try_call(command, fmt::format("accept with ORD {}", ord)).outcome != iut::Outcome::ok)
    on.stop(Verdict::not_applicable, "the API accepts no ORD above the Initiator's IRD");
}

}  // namespace

// ---------------------------------------------------------------- the frames (6, 10)

CONFORMANCE_CASE(enhanced_request_gets_an_enhanced_reply,
                 rules("mpa.enhanced.enhanced-request-gets-enhanced-reply",
                       "mpa.enhanced.revision-two-or-higher",
                       "mpa.enhanced.private-data-starts-with-enhanced-data"),
                 needs(capability::enhanced_startup)) {
  send_request(*this, enhanced_request(client_server));
  accept(*this, std::get<iut::ConnectRequestEvent>(expect(iut, connect_request())));
  const Arrival reply = expect(
      peer.raw(), mpa_frame("S set", [](const wire::MpaFrame& f) { return f.flags.enhanced(); }));
  const wire::MpaFrame frame = reply.as<ReceivedFrame>()->frame();
  expect_that(frame.revision >= 2, "Rev 2 or higher", reply.text(),
              "mpa.enhanced.revision-two-or-higher");
  expect_that(frame.enhanced().has_value(), "the enhanced data", reply.text(),
              "mpa.enhanced.private-data-starts-with-enhanced-data");
}

CONFORMANCE_CASE(plain_request_gets_a_plain_reply,
                 rules("mpa.enhanced.unenhanced-request-gets-unenhanced-reply")) {
  const auto plain =
      mpa_frame("S clear", [](const wire::MpaFrame& f) { return !f.flags.enhanced(); });
  row("revision 1", [&] {
    ask(*this, mpa_request(), with_private_data(payload(8)));
    const Arrival reply = expect(peer.raw(), plain);
    const auto data = reply.as<ReceivedFrame>()->frame().private_data;
    expect_that(data.size() >= 8 && std::ranges::equal(data.first(8), payload(8)),
                "the consumer's 8 octets in front", reply.text());
  });
  row("revision 2", [&] {
    if (!iut.can(capability::enhanced_startup))
      stop(Verdict::not_applicable, "the IUT implements revision 1 only");
    ask(*this, mpa_request().with_revision(2));
    expect(peer.raw(), plain);
  });
}

CONFORMANCE_CASE(reserved_flags_of_the_enhanced_request_are_ignored,
                 rules("mpa.startup.reserved-bits-ignored"), needs(capability::enhanced_startup)) {
  for (const std::uint8_t bit : std::initializer_list<std::uint8_t>{0x01, 0x02, 0x04, 0x08}) {
    row(fmt::format("flag {:#04x}", bit), [&] {
      send_request(*this, enhanced_request(client_server).with_flag(bit));
      accept(*this, std::get<iut::ConnectRequestEvent>(expect(iut, connect_request())));
      expect(peer.raw(), accepting_reply());
    });
  }
}

CONFORMANCE_CASE(request_without_room_for_enhanced_data_is_refused,
                 rules("mpa.enhanced.short-private-data-is-bad-frame"),
                 needs(capability::enhanced_startup)) {
  const StartupFrame request = mpa_request().with_revision(2).with_flag(MpaFlags::s);
  for (const std::size_t length : {0, 1, 2, 3}) {
    row(fmt::format("PD_Length {}", length), [&] {
      send_request(*this, request.with_private_data(payload(length)));
      // That the connection must end is a reading (docs/disputes.md D61): to reject the Request, or
      // to pass it to the consumer, is an advisory.
      const Expected otherwise = advisory(rejecting_reply() | silence());
      if (!expect(peer.raw(), torn_down() | otherwise).is_end()) return;
      expect_none(connect_request());
    });
  }
}

CONFORMANCE_CASE(pd_length_of_the_reply_counts_the_enhanced_data,
                 rules("mpa.enhanced.pd-length-includes-enhanced-data"),
                 needs(capability::enhanced_startup)) {
  ask(*this, enhanced_request(client_server), with_private_data(payload(8)));
  expect(peer.raw(),
         mpa_frame("PD_Length 12, the consumer's 8 octets last", [](const wire::MpaFrame& frame) {
           return frame.private_data.size() == 12 &&
                  std::ranges::equal(frame.private_data.last(8), payload(8));
         }));
}

CONFORMANCE_CASE(reply_words_are_in_network_byte_order, rules("mpa.enhanced.network-byte-order"),
                 needs(capability::enhanced_startup)) {
  ask(*this, enhanced_request(client_server), with_depths(4, 4));
  // In the other order 4 would be 0x0400, and more than the Initiator's IRD.
  expect(peer.raw(), reply_words("IRD of at least 4, ORD of at most 4", [](const Words& words) {
           return words.ird >= 4 && (words.ord <= 4 || words.ord == all_ones);
         }));
}

CONFORMANCE_CASE(reply_words_have_ird_first, rules("mpa.enhanced.data-layout"),
                 needs(capability::enhanced_startup)) {
  ask(*this, enhanced_request(with_depths_of(client_server, 1, 6)), with_depths(6, 1));
  expect(peer.raw(), reply_words("IRD of at least 6, ORD of at most 1", [](const Words& words) {
           return words.ird >= 6 && (words.ord <= 1 || words.ord == all_ones);
         }));
}

CONFORMANCE_CASE(rejection_of_an_enhanced_request_is_enhanced,
                 rules("mpa.enhanced.enhanced-request-gets-enhanced-reply",
                       "mpa.startup.reply-r-tells-rejection"),
                 needs(capability::enhanced_startup)) {
  send_request(*this, enhanced_request(client_server));
  iut.reject(asked(*this).request, payload(8));
  const Arrival reply =
      expect(peer.raw(), rejecting_reply(), "mpa.startup.reply-r-tells-rejection");
  const wire::MpaFrame frame = reply.as<ReceivedFrame>()->frame();
  expect_that(frame.flags.enhanced() && frame.enhanced(), "S and the enhanced data", reply.text());
}

// ---------------------------------------------------------------- IRD and ORD (9.1)

CONFORMANCE_CASE(consumer_learns_the_initiators_depths,
                 rules("mpa.enhanced.responder-tells-ulp-peer-values"),
                 needs(capability::enhanced_startup)) {
  const auto told = [&](const char* model, const Words& with) {
    for (const Depths& depths : {Depths{3, 5}, Depths{0, 5}, Depths{3, 0}})
      row(fmt::format("{}, {}", depths.text(), model), [&] {
        send_request(*this, enhanced_request(with_depths_of(with, depths.ird, depths.ord)));
        expect_told(*this, asked(*this), depths);
      });
  };
  told("client-server", client_server);
  if (iut.can(capability::peer_to_peer)) told("peer-to-peer", any_rtr);
}

CONFORMANCE_CASE(reply_ord_is_at_most_the_initiators_ird,
                 rules("mpa.enhanced.responder-ord-at-most-initiator-ird"),
                 needs(capability::enhanced_startup)) {
  for (const std::uint16_t ird : std::initializer_list<std::uint16_t>{0, 1, 3}) {
    const Expected fits = reply_ord_within(ird);
    row(fmt::format("IRD {}, which the consumer accepts", ird), [&] {
      ask(*this, enhanced_request(with_depths_of(client_server, ird, 4)), with_depths(4, ird));
      expect(peer.raw(), fits);
    });
    row(fmt::format("IRD {}, the consumer wants 4", ird), [&] {
      send_request(*this, enhanced_request(with_depths_of(client_server, ird, 4)));
      accept_wanting(*this, 4, 4);
      // It may reject, and state what it needs.
      expect(peer.raw(), fits | rejecting_reply() | torn_down());
    });
  }
}

CONFORMANCE_CASE(responder_respects_the_initiators_ird,
                 rules("mpa.enhanced.responder-ord-within-initiator-ird"),
                 needs(capability::enhanced_startup)) {
  send_request(*this, enhanced_request(with_depths_of(client_server, 1, 4)));
  accept_wanting(*this, 4, 4);
  if (expect(peer.raw(), mpa_frame() | torn_down()).is_end() || !peer.raw().in_rdma_mode())
    stop(Verdict::not_applicable, "the IUT declines an Initiator with so small an IRD");
  let_responder_send(*this);
  expect_one_read_at_a_time(*this);
}

CONFORMANCE_CASE(responder_sends_no_read_to_an_initiator_with_ird_zero,
                 rules("mpa.enhanced.responder-ord-within-initiator-ird"),
                 needs(capability::enhanced_startup)) {
  send_request(*this, enhanced_request(with_depths_of(client_server, 0, 4)));
  accept_wanting(*this, 4, 4);
  if (expect(peer.raw(), mpa_frame() | torn_down()).is_end() || !peer.raw().in_rdma_mode())
    stop(Verdict::not_applicable, "the IUT declines an Initiator with so small an IRD");
  let_responder_send(*this);
  const Region sink = iut.register_memory(8, access::remote_write);
  iut::PostWork read;
  read.operation = operation::read;
  read.pieces = {{sink.handle, 0, 8}};
  read.remote_stag = 0x1234;
  // It may be refused, fail, or never complete.
  static_cast<void>(iut.try_post(read));
  const std::size_t reads = reads_coming(*this).size();
  expect_that(reads == 0, "no Read Request", fmt::format("{}", reads));
}

CONFORMANCE_CASE(read_from_a_responder_that_states_no_ird_is_an_error,
                 rules("rdmap.resources.inbound-limit-kept"), needs(capability::enhanced_startup)) {
  const Region region = iut.register_memory(64, access::remote_read);
  const auto words = words_of(reply_to(*this, enhanced_request(client_server), with_depths(0, 4)));
  if (!words) stop(Verdict::inconclusive, "a Reply without depths");
  if (words->ird != 0) return advise_that(false, "an IRD of 0", fmt::format("{}", words->ird));
  peer.raw().send(read_of(region.stag, region.base, 8));
  expect(peer.raw(), any_terminate() | advisory(torn_down()));
}

CONFORMANCE_CASE(reads_are_served_up_to_the_stated_ird,
                 rules("mpa.enhanced.responder-ird-is-actual"),
                 needs(capability::enhanced_startup)) {
  const ReceivedFrame reply = reply_to(*this, enhanced_request(client_server), with_depths(4, 4));
  const auto words = words_of(reply);
  if (!words || words->ird == all_ones) stop(Verdict::inconclusive, "a Reply without an IRD");
  expect_reads_served(*this, words->ird);
}

CONFORMANCE_CASE(depths_that_the_consumer_leaves_open_fit_the_initiators,
                 rules("mpa.enhanced.responder-ird-is-actual",
                       "mpa.enhanced.responder-ird-covers-initiator-ord",
                       "mpa.enhanced.responder-ord-at-most-initiator-ird"),
                 needs(capability::enhanced_startup)) {
  const auto left_open = [&](std::uint16_t ird, std::uint16_t ord) {
    row(fmt::format("IRD {} and ORD {}", ird, ord), [&] {
      send_request(*this, enhanced_request(with_depths_of(client_server, ird, ord)));
      iut.accept(asked(*this).request, iut.endpoint());
      const Arrival reply = expect(peer.raw(), reply_ord_within(ird),
                                   "mpa.enhanced.responder-ord-at-most-initiator-ird");
      const auto words = words_of(*reply.as<ReceivedFrame>());
      if (within_limit(iut.limits(), "max_ird", ord) == ord)
        advise_that(words->ird >= ord, fmt::format("an IRD of at least {}", ord),
                    fmt::format("{}", words->ird),
                    "mpa.enhanced.responder-ird-covers-initiator-ord");
      if (words->ird != all_ones) expect_reads_served(*this, words->ird);
    });
  };
  left_open(1, 6);
  left_open(6, 1);
  left_open(2, 5);
}

CONFORMANCE_CASE(ord_of_all_ones_is_answered_by_all_ones,
                 rules("mpa.enhanced.ord-all-ones-answered-in-kind"),
                 needs(capability::enhanced_startup)) {
  ask(*this, enhanced_request(with_depths_of(client_server, 4, all_ones)), with_depths(2, 2));
  expect(peer.raw(), reply_words("IRD 0x3fff", [](const Words& w) { return w.ird == all_ones; }));
}

CONFORMANCE_CASE(ord_of_all_ones_leaves_the_responders_ird,
                 rules("mpa.enhanced.ord-all-ones-keeps-responder-ird"),
                 needs(capability::enhanced_startup)) {
  static_cast<void>(reply_to(*this, enhanced_request(with_depths_of(client_server, 4, all_ones)),
                             with_depths(1, 4)));
  Region readable = iut.register_memory(4096, access::remote_read);
  std::vector<Outgoing> reads;
  for (std::uint32_t i = 0; i < 4; ++i)
    reads.push_back(read_request({.sink_stag = 0x1234,
                                  .sink_offset = 4096ULL * i,
                                  .length = 4096,
                                  .source_stag = readable.stag,
                                  .source_offset = readable.base}));
  peer.send_together(reads);
  // A fast IUT may have answered one before the next arrives, and it may serve more than it states:
  // four at once suggest that 0x3fff was used as a depth, but do not prove it.
  int served = 0;
  while (served < 4) {
    const Arrival arrival = peer.raw().next(context().deadline);
    if (arrival.message(Opcode::read_response) == nullptr) break;
    ++served;
  }
  advise_that(served < 4, "an error of the Reads that exceed the consumer's IRD of 1",
              fmt::format("{} Reads served at once", served));
}

CONFORMANCE_CASE(ird_of_all_ones_is_answered_by_all_ones,
                 rules("mpa.enhanced.ird-all-ones-answered-in-kind"),
                 needs(capability::enhanced_startup)) {
  ask(*this, enhanced_request(with_depths_of(client_server, all_ones, 4)), with_depths(4, 2));
  expect(peer.raw(), reply_words("ORD 0x3fff", [](const Words& w) { return w.ord == all_ones; }));
}

CONFORMANCE_CASE(ird_of_all_ones_leaves_the_responders_ord,
                 rules("mpa.enhanced.ird-all-ones-keeps-responder-ord"),
                 needs(capability::enhanced_startup)) {
  static_cast<void>(reply_to(*this, enhanced_request(with_depths_of(client_server, all_ones, 4)),
                             with_depths(4, 2)));
  let_responder_send(*this);
  for (int i = 0; i < 4; ++i) static_cast<void>(iut.post_read(8, 0x1234, 0));
  const std::size_t reads = reads_coming(*this).size();
  expect_that(reads <= 2, "at most two Read Requests, the consumer's ORD",
              fmt::format("{}", reads));
}

CONFORMANCE_CASE(unusual_depths_are_harmless, rules("mpa.enhanced.input-values-checked"),
                 needs(capability::enhanced_startup)) {
  const std::pair<const char*, Words> rows[] = {
      {"IRD 0", with_depths_of(client_server, 0, 4)},
      {"ORD 0", with_depths_of(client_server, 4, 0)},
      {"IRD and ORD 0", with_depths_of(client_server, 0, 0)},
      {"IRD and ORD 0x3ffe", with_depths_of(client_server, 0x3FFE, 0x3FFE)},
      {"peer-to-peer without an RTR kind", {.peer_to_peer = true, .ird = 4, .ord = 4}}};
  for (const auto& [name, words] : rows) {
    row(name, [&, &words = words] {
      send_request(*this, enhanced_request(words));
      // The API or the consumer may refuse it; it may not be left without an answer.
      const auto event = iut.take<iut::ConnectRequestEvent>(context().deadline);
      if (event) iut.reject(event->request);
      expect(peer.raw(), (event ? rejecting_reply() | torn_down() : torn_down()));
      Peer& next = another_peer();
      establish(next, {.judged_by = "mpa.enhanced.input-values-checked"});
    });
  }
}

CONFORMANCE_CASE(responder_respects_the_ord_that_it_states,
                 rules("mpa.enhanced.responder-ord-is-actual"),
                 needs(capability::enhanced_startup)) {
  const auto words = words_of(reply_to(*this, enhanced_request(client_server), with_depths(4, 2)));
  if (!words) stop(Verdict::inconclusive, "a Reply without an ORD");
  // All ones state no limit (docs/disputes.md D59).
  advise_that(words->ord != all_ones, "an ORD", "0x3FFF");
  if (words->ord == all_ones) return;
  let_responder_send(*this);
  for (int i = 0; i < 4; ++i) static_cast<void>(iut.post_read(8, 0x1234, 0));
  const std::size_t reads = reads_coming(*this).size();
  expect_that(reads <= words->ord, fmt::format("at most {} Read Requests", words->ord),
              fmt::format("{}", reads));
}

CONFORMANCE_CASE(rejection_over_a_small_ird_has_no_other_code,
                 rules("mpa.enhanced.reject-term-code-six"), needs(capability::enhanced_startup)) {
  send_request(*this, enhanced_request(with_depths_of(client_server, 0, 4)));
  iut.reject(asked(*this).request);
  expect(peer.raw(), rejecting_reply());
  expect(peer.raw(), torn_down() | silence());
  // Section 9.1 asks for a Terminate, which cannot be sent outside of MPA (docs/disputes.md D5).
  const Octets more = octets_after_reply(*this);
  constexpr std::size_t cause_at = 2 + wire::untagged_header_size;
  const bool code_six = more.size() > cause_at + 1 && more[cause_at] == std::byte{0x20} &&
                        more[cause_at + 1] == std::byte{0x06};
  expect_that(more.empty() || code_six, "no Terminate, or one with 2/0/06", wire::hex(more));
}

CONFORMANCE_CASE(large_depths_do_not_change_the_flags,
                 rules("mpa.enhanced.ird-ord-fourteen-bit-unsigned",
                       "mpa.enhanced.flag-a-zero-echoed"),
                 needs(capability::enhanced_startup)) {
  for (const std::uint16_t depth : std::initializer_list<std::uint16_t>{0x2000, 0x3000, 0x3FFE}) {
    row(fmt::format("{:#06x}", depth), [&] {
      const auto words = words_of(reply_to(
          *this, enhanced_request(with_depths_of(client_server, depth, depth)), with_depths(2, 2)));
      if (!words) stop(Verdict::inconclusive, "a Reply without enhanced data");
      expect_that(!words->peer_to_peer && !any_rtr_flag(*words), "A, B, C and D clear",
                  "a flag set", "mpa.enhanced.flag-a-zero-echoed");
      expect_that(words->ord <= depth || words->ord == all_ones,
                  "an ORD of at most the Initiator's IRD", fmt::format("ORD {}", words->ord));
      // Read as a negative number it would leave nothing to the consumer, which asked for two.
      advise_that(words->ord > 0, "an ORD of at least 1", "ORD 0");
    });
  }
}

// ---------------------------------------------------------------- without the enhancement (10)

CONFORMANCE_CASE(responder_of_revision_one_closes_on_an_enhanced_request,
                 rules("mpa.enhanced.unenhanced-responder-closes"), configured({.revision = 1})) {
  send_request(*this, enhanced_request(client_server));
  const auto own = mpa_frame("a revision of its own", [](const wire::MpaFrame& reply) {
    return reply.revision < 2;  // RFC 5044 appendix C.2.1
  });
  if (!expect(peer.raw(), torn_down() | own).is_end()) expect(peer.raw(), torn_down());
  expect_none(connect_request());
}

CASES_OF_FILE(mpa, enhanced_responder)

}  // namespace suite::cases
