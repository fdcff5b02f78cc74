// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// For each check a conversation that it alone complains of.
#define BOOST_TEST_MODULE message_tracker
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <set>

#include "dissectors/analyzer/atomic_rules.hpp"
#include "dissectors/analyzer/checked_rules.hpp"
#include "dissectors/analyzer/startup_rules.hpp"
#include "dissectors/analyzer/terminate_rules.hpp"
#include "dissectors/analyzer/tests/conversation.hpp"

namespace dissectors::analyzer::tests {

namespace {

/// A way of being wrong: the rule that has to be reported, and by what conversation.
struct Bad {
  std::string_view rule;
  void (*happens)(Conversation&);
};

constexpr std::uint8_t c = wire::MpaFlags::c, s = wire::MpaFlags::s, r = wire::MpaFlags::r;
constexpr Values all_kinds{true, true, true, true, 8, 8};
constexpr Values depths{.ird = 8, .ord = 8};

Values with(Values values, auto change) {
  change(values);
  return values;
}

/// The ULPDU with some bits of one octet turned over.
Octets flipped(Octets ulpdu, std::size_t at, unsigned bits) {
  ulpdu[at] ^= static_cast<std::byte>(bits);
  return ulpdu;
}

Octets extended(Octets ulpdu, std::size_t by) {
  const Octets more = octets(by);
  ulpdu.insert(ulpdu.end(), more.begin(), more.end());
  return ulpdu;
}

Octets shortened(Octets ulpdu, std::size_t to) {
  ulpdu.resize(to);
  return ulpdu;
}

Octets response_part(std::uint64_t to, std::size_t length, bool last, std::uint32_t stag = 0x500) {
  return ulpdu(Tagged{.opcode = Opcode::read_response,
                      .stag = stag,
                      .to = to,
                      .payload = octets(length),
                      .last = last});
}

/// Sends of the initiator, after a plain startup.
void sends(Conversation& to, const std::vector<Octets>& ulpdus) {
  to.start();
  for (const Octets& ulpdu : ulpdus) to.send(initiator, ulpdu);
}

// ----------------------------------------------------------------------------- startup

constexpr auto set_up_without_match = [](Conversation& it) {
  it.start({true, true, false, false, 8, 8}, {true, false, true, false, 8, 8});
};

const std::vector<Bad> startup{
    {"mpa.startup.request-r-sent-as-zero", [](Conversation& it) { it.request(c | r); }},
    {"mpa.startup.reserved-bits-sent-as-zero", [](Conversation& it) { it.request(c | 0x1F); }},
    {"mpa.startup.reserved-bits-sent-as-zero",
     [](Conversation& it) { it.request(c | s | 0x01, 2, depths); }},
    {"mpa.startup.revision-one-sent", [](Conversation& it) { it.request(c, 0); }},
    {"mpa.startup.revision-one-sent", [](Conversation& it) { it.request(c, 3); }},
    {"mpa.private-data.at-most-512-octets",
     [](Conversation& it) { it.request(c, 1, std::nullopt, 513); }},
    {"mpa.enhanced.ulp-data-at-most-508",
     [](Conversation& it) { it.request(c | s, 2, depths, 509); }},
    {"mpa.enhanced.revision-two-or-higher", [](Conversation& it) { it.request(c | s, 1, depths); }},
    {"mpa.enhanced.private-data-starts-with-enhanced-data",
     [](Conversation& it) { it.request(c | s, 2, std::nullopt, 3); }},
    {"mpa.enhanced.rtr-flags-zero-without-a",
     [](Conversation& it) { it.request(c | s, 2, Values{false, true, false, false, 8, 8}); }},
    {"mpa.enhanced.initiator-offers-all-rtr-kinds",
     [](Conversation& it) { it.request(c | s, 2, Values{true, false, false, false, 8, 8}); }},
    {"mpa.enhanced.not-used-without-need",
     [](Conversation& it) {
       it.request(c | s, 2, Values{false, false, false, false, 0x3FFF, 0x3FFF});
     }},
    {"mpa.enhanced.enhanced-request-gets-enhanced-reply",
     [](Conversation& it) {
       it.request(c | s, 2, all_kinds);
       it.reply(c, 1);
     }},
    {"mpa.enhanced.unenhanced-request-gets-unenhanced-reply",
     [](Conversation& it) {
       it.request(c, 1);
       it.reply(c | s, 2, depths);
     }},
    {"mpa.enhanced.flag-a-echoed", [](Conversation& it) { it.start(all_kinds, depths); }},
    {"mpa.enhanced.flag-a-zero-echoed", [](Conversation& it) { it.start(depths, all_kinds); }},
    {"mpa.enhanced.matching-rtr-flags-set",
     [](Conversation& it) { it.start(all_kinds, Values{true, false, false, false, 8, 8}); }},
    {"mpa.enhanced.responder-ord-at-most-initiator-ird",
     [](Conversation& it) {
       it.start(depths, with(depths, [](Values& values) { values.ord = 9; }));
     }},
    {"mpa.enhanced.ord-all-ones-answered-in-kind",
     [](Conversation& it) {
       it.start(with(depths, [](Values& values) { values.ord = 0x3FFF; }), depths);
     }},
    {"mpa.enhanced.ird-all-ones-answered-in-kind",
     [](Conversation& it) {
       it.start(with(depths, [](Values& values) { values.ird = 0x3FFF; }), depths);
     }},
    {"mpa.startup.no-fpdu-before-both-frames",
     [](Conversation& it) {
       it.request(c);
       it.send(initiator, ulpdu(Untagged{}));
       it.reply(c);
     }},
    {"mpa.startup.no-fpdu-before-both-frames",
     [](Conversation& it) {
       it.start();
       it.turn_back(2);
       it.send(initiator, ulpdu(Untagged{}));
     }},
    {"mpa.startup.no-fpdu-before-both-frames",
     [](Conversation& it) {
       it.request(c);
       it.send(initiator, ulpdu(Untagged{}));
       it.reset(initiator);
       it.silent(responder);
     }},
    {"mpa.enhanced.error-codes-five-six-seven",
     [](Conversation& it) {
       it.start();
       it.send(initiator, ulpdu(Untagged{}));
       it.send(responder, ulpdu(Untagged{}));
       it.send(responder, terminate(because(wire::cause::mpa_insufficient_ird)));
     }},
    {"mpa.startup.responder-silent-before-first-fpdu",
     [](Conversation& it) {
       it.start();
       it.send(responder, ulpdu(Untagged{}));
       it.send(initiator, ulpdu(Untagged{}));
     }},
    {"mpa.startup.responder-silent-before-first-fpdu",
     [](Conversation& it) {
       it.start();
       it.send(responder, ulpdu(Untagged{}));
     }},
    {"mpa.startup.rejected-initiator-exits-mpa",
     [](Conversation& it) {
       it.request(c);
       it.reply(c | r);
       it.send(initiator, ulpdu(Untagged{}));
     }},
    {"mpa.startup.rejecting-responder-exits-mpa",
     [](Conversation& it) {
       it.request(c);
       it.reply(c | r);
       it.send(responder, ulpdu(Untagged{}));
     }},
    {"mpa.enhanced.rtr-is-zero-length",
     [](Conversation& it) {
       it.start(all_kinds, all_kinds);
       it.send(initiator, ulpdu(Untagged{.payload = octets(1)}));
     }},
    {"mpa.enhanced.rtr-is-zero-length",
     [](Conversation& it) {
       it.start(all_kinds, all_kinds);
       it.send(initiator, read_request(1));
     }},
    {"mpa.enhanced.rtr-of-negotiated-kind",
     [](Conversation& it) {
       it.start(all_kinds, Values{true, false, false, true, 8, 8});
       it.send(initiator, ulpdu(Tagged{}));
     }},
    {"mpa.enhanced.rtr-sent-after-accept",
     [](Conversation& it) {
       it.start(all_kinds, all_kinds);
       it.send(initiator, ulpdu(Untagged{.opcode = Opcode::send_solicited}));
     }},
    {"mpa.enhanced.no-rtr-match-sends-term",
     [](Conversation& it) {
       set_up_without_match(it);
       it.send(initiator, ulpdu(Untagged{}));
     }},
    {"mpa.enhanced.no-rtr-match-code-seven",
     [](Conversation& it) {
       set_up_without_match(it);
       it.send(initiator, terminate(because(wire::cause::mpa_insufficient_ird)));
     }},
    {"mpa.enhanced.error-codes-five-six-seven",
     [](Conversation& it) {
       it.start(all_kinds, all_kinds);
       it.send(initiator, terminate(because(wire::cause::mpa_no_rtr)));
     }},
    {"mpa.enhanced.error-codes-five-six-seven",
     [](Conversation& it) {
       it.start(all_kinds, all_kinds);
       it.send(initiator, terminate(because(wire::cause::mpa_insufficient_ird)));
     }},
    {"mpa.enhanced.error-layer-two-type-zero",
     [](Conversation& it) {
       set_up_without_match(it);
       it.send(initiator, terminate(because(wire::cause::rdmap_local_catastrophic)));
     }},
    {"mpa.enhanced.initiator-local-error-code-five",
     [](Conversation& it) {
       it.start(all_kinds, all_kinds);
       it.send(initiator, terminate(because(wire::cause::mpa_invalid_frame)));
     }},
    {"mpa.enhanced.initiator-ord-at-most-responder-ird",
     [](Conversation& it) {
       it.start(depths, with(depths, [](Values& values) { values.ird = 2; }));
       for (std::uint32_t msn = 1; msn <= 3; ++msn) it.send(initiator, read_request(msn));
     }},
    {"mpa.enhanced.responder-ord-is-actual",
     [](Conversation& it) {
       it.start(depths, with(depths, [](Values& values) { values.ord = 2; }));
       it.send(initiator, ulpdu(Untagged{}));
       for (std::uint32_t msn = 1; msn <= 3; ++msn) it.send(responder, read_request(msn));
     }},
    {"mpa.enhanced.responder-ord-within-initiator-ird",
     [](Conversation& it) {
       it.start(with(depths, [](Values& values) { values.ird = 2; }),
                with(depths, [](Values& values) { values.ord = 2; }));
       it.send(initiator, ulpdu(Untagged{}));
       for (std::uint32_t msn = 1; msn <= 3; ++msn) it.send(responder, read_request(msn));
     }},
};

// --------------------------------------------------------------------------------- DDP

Octets piece(std::uint32_t msn, std::uint32_t mo, std::size_t length, bool last) {
  return ulpdu(Untagged{.msn = msn, .mo = mo, .payload = octets(length), .last = last});
}

Octets write_piece(std::uint64_t to, std::size_t length, bool last, std::uint32_t stag = 0x100) {
  return ulpdu(Tagged{.stag = stag, .to = to, .payload = octets(length), .last = last});
}

const std::vector<Bad> ddp{
    {"ddp.header.present-in-every-segment",
     [](Conversation& it) { sends(it, {shortened(ulpdu(Tagged{}), 13)}); }},
    {"ddp.header.present-in-every-segment",
     [](Conversation& it) { sends(it, {shortened(ulpdu(Untagged{}), 17)}); }},
    {"ddp.header.present-in-every-segment", [](Conversation& it) { sends(it, {Octets{}}); }},
    {"ddp.header.rsvd-zero-on-send",
     [](Conversation& it) { sends(it, {flipped(ulpdu(Untagged{}), 0, 0x04)}); }},
    {"ddp.header.dv-is-one",
     [](Conversation& it) { sends(it, {flipped(ulpdu(Untagged{}), 0, 0x03)}); }},
    {"ddp.header.dv-is-one",
     [](Conversation& it) { sends(it, {flipped(ulpdu(Tagged{}), 0, 0x01)}); }},
    {"ddp.header.dv-constant-on-stream",
     [](Conversation& it) {
       it.request(c, 1);
       it.reply(c, 0);
       it.findings.clear();
       it.send(initiator, ulpdu(Untagged{}));
       it.send(initiator, flipped(flipped(ulpdu(Untagged{.msn = 2}), 0, 0x01), 1, 0x40));
     }},
    {"mpa.startup.same-ddp-version-both-ways",
     [](Conversation& it) {
       it.request(c, 1);
       it.reply(c, 0);
       it.findings.clear();
       it.send(initiator, ulpdu(Untagged{}));
       it.send(responder, flipped(flipped(ulpdu(Untagged{}), 0, 0x01), 1, 0x40));
     }},
    {"ddp.header.l-set-on-last",
     [](Conversation& it) { sends(it, {piece(1, 0, 9, false), piece(2, 0, 9, true)}); }},
    {"ddp.header.l-set-on-last",
     [](Conversation& it) {
       sends(it,
             {write_piece(0, 100, false), write_piece(100, 9, false), write_piece(500, 9, true)});
     }},
    {"ddp.header.l-clear-on-others",
     [](Conversation& it) { sends(it, {piece(1, 0, 9, true), piece(1, 9, 9, true)}); }},
    {"ddp.header.l-clear-on-others",
     [](Conversation& it) {
       sends(it, {read_request(1)});
       it.send(responder, response_part(0x2000, 10, true));
       it.send(responder, response_part(0x200A, 6, true));
     }},
    {"ddp.header.l-segment-sent-last",
     [](Conversation& it) {
       sends(it, {piece(1, 0, 9, false), piece(1, 18, 9, true), piece(1, 9, 9, false)});
     }},
    {"ddp.untagged.l-segment-highest-mo",
     [](Conversation& it) {
       sends(it, {piece(1, 0, 9, false), piece(1, 18, 9, false), piece(1, 9, 9, true)});
     }},
    {"ddp.delivery.messages-sent-in-order",
     [](Conversation& it) {
       sends(it, {piece(1, 0, 9, false), write_piece(0, 9, true), piece(1, 9, 9, true)});
     }},
    {"ddp.tagged.rsvdulp-same-in-segments",
     [](Conversation& it) {
       sends(it, {write_piece(0, 9, false), flipped(write_piece(9, 9, true), 1, 0x02)});
     }},
    {"ddp.untagged.rsvdulp-same-in-segments",
     [](Conversation& it) {
       sends(it, {piece(1, 0, 9, false), flipped(piece(1, 9, 9, true), 1, 0x06)});
     }},
    {"ddp.untagged.rsvdulp-same-in-segments",
     [](Conversation& it) {
       const Untagged first{
           .opcode = Opcode::send_invalidate, .payload = octets(9), .last = false, .ulp_word = 5};
       Untagged second = first;
       second.mo = 9;
       second.last = true;
       second.ulp_word = 6;
       sends(it, {ulpdu(first), ulpdu(second)});
     }},
    {"ddp.tagged.stag-same-in-segments",
     [](Conversation& it) {
       sends(it, {write_piece(0, 9, false), write_piece(9, 9, false, 0x101),
                  write_piece(18, 9, true, 0x101)});
     }},
    {"ddp.tagged.stag-same-in-segments",
     [](Conversation& it) {
       sends(it, {read_request(1)});
       it.send(responder, response_part(0x2000, 10, false));
       it.send(responder, response_part(0x200A, 6, true, 0x501));
     }},
    {"ddp.untagged.qn-same-in-segments",
     [](Conversation& it) {
       Untagged second{.queue = 1, .mo = 9, .payload = octets(9)};
       it.start();
       it.send(initiator, piece(1, 0, 9, false));
       it.send(initiator, ulpdu(second));
       // That the queue is not the Sends' is a fault of its own.
       std::erase_if(it.findings, [](const Finding& finding) {
         return finding.rule.id == "rdmap.send.queue-zero";
       });
     }},
    {"ddp.untagged.msn-same-in-segments",
     [](Conversation& it) {
       sends(it, {piece(1, 0, 9, false), piece(2, 9, 9, false), piece(2, 18, 9, true),
                  piece(2, 0, 9, true)});
     }},
    {"ddp.untagged.msn-increments-per-message",
     [](Conversation& it) { sends(it, {piece(1, 0, 9, true), piece(1, 0, 9, true)}); }},
    {"ddp.untagged.msn-increments-per-message",
     [](Conversation& it) { sends(it, {piece(1, 0, 9, true), piece(3, 0, 9, true)}); }},
    {"ddp.untagged.msn-starts-at-one",
     [](Conversation& it) { sends(it, {piece(0, 0, 9, true), piece(1, 0, 9, true)}); }},
    {"ddp.untagged.first-mo-zero",
     [](Conversation& it) { sends(it, {piece(1, 1, 9, true), piece(2, 0, 9, true)}); }},
    {"ddp.segmentation.mo-is-message-offset",
     [](Conversation& it) {
       sends(it, {piece(1, 0, 9, false), piece(1, 0, 9, false), piece(1, 0, 9, true)});
     }},
    {"ddp.segmentation.mo-is-message-offset",
     [](Conversation& it) { sends(it, {piece(1, 0, 9, false), piece(1, 10, 9, true)}); }},
    {"ddp.segmentation.to-is-initial-plus-offset",
     [](Conversation& it) {
       sends(it, {write_piece(70, 9, false), write_piece(70, 9, false), write_piece(70, 5, true)});
     }},
    {"ddp.segmentation.to-is-initial-plus-offset",
     [](Conversation& it) { sends(it, {write_piece(70, 9, false), write_piece(80, 9, true)}); }},
    {"ddp.segmentation.increasing-mo",
     [](Conversation& it) {
       sends(it, {piece(1, 9, 9, false), piece(1, 0, 9, false), piece(1, 18, 9, true)});
     }},
    {"ddp.segmentation.increasing-to",
     [](Conversation& it) {
       sends(it, {write_piece(9, 9, false), write_piece(0, 9, false), write_piece(18, 9, true)});
     }},
    {"ddp.segmentation.zero-length-one-segment",
     [](Conversation& it) { sends(it, {piece(1, 0, 0, false), piece(1, 0, 0, true)}); }},
};

// ------------------------------------------------------------------------------- RDMAP

/// One untagged message with everything right for its opcode, but for what `change` does.
Octets changed(Opcode opcode, std::size_t length, auto change) {
  Untagged fields{.opcode = opcode,
                  .queue = static_cast<std::uint32_t>(wire::queue_of(opcode)),
                  .payload = octets(length)};
  change(fields);
  return ulpdu(fields);
}

/// The untagged header's octets as a tagged segment, whose fields then lie elsewhere.
Octets tagged_as(Opcode opcode) { return ulpdu(Tagged{.opcode = opcode}); }

void one_read(Conversation& it, const Octets& response) {
  sends(it, {read_request(1)});
  it.send(responder, response);
}

const std::vector<Bad> rdmap{
    {"rdmap.header.version-one",
     [](Conversation& it) { sends(it, {flipped(ulpdu(Untagged{}), 1, 0xC0)}); }},
    {"rdmap.atomic.version-one",
     [](Conversation& it) { sends(it, {flipped(atomic_request(1, fetch_add(1)), 1, 0xC0)}); }},
    {"rdmap.immediate.version-one",
     [](Conversation& it) {
       sends(it, {flipped(changed(Opcode::immediate, 8, [](Untagged&) {}), 1, 0xC0)});
     }},
    {"rdmap.header.reserved-bits-zero",
     [](Conversation& it) { sends(it, {flipped(ulpdu(Tagged{}), 1, 0x20)}); }},
    {"rdmap.atomic.other-control-fields",
     [](Conversation& it) { sends(it, {flipped(atomic_request(1, fetch_add(1)), 1, 0x10)}); }},
    {"rdmap.immediate.other-control-fields",
     [](Conversation& it) {
       sends(it, {flipped(changed(Opcode::immediate, 8, [](Untagged&) {}), 1, 0x30)});
     }},
    {"rdmap.header.opcode-from-table",
     [](Conversation& it) { sends(it, {ulpdu(Untagged{.opcode = static_cast<Opcode>(0xC)})}); }},
    {"rdmap.header.invalidate-stag-zero",
     [](Conversation& it) { sends(it, {ulpdu(Untagged{.ulp_word = 1})}); }},
    {"rdmap.atomic.invalidate-stag-zero",
     [](Conversation& it) { sends(it, {flipped(atomic_request(1, fetch_add(1)), 5, 1)}); }},
    {"rdmap.immediate.invalidate-stag-zero",
     [](Conversation& it) {
       sends(it, {changed(Opcode::immediate, 8, [](Untagged& fields) { fields.ulp_word = 1; })});
     }},
    {"rdmap.write.tagged-buffer",
     [](Conversation& it) { sends(it, {ulpdu(Untagged{.opcode = Opcode::rdma_write})}); }},
    {"rdmap.read.response-tagged",
     [](Conversation& it) { sends(it, {ulpdu(Untagged{.opcode = Opcode::read_response})}); }},
    {"rdmap.send.untagged-buffer",
     [](Conversation& it) { sends(it, {tagged_as(Opcode::send_solicited)}); }},
    {"rdmap.read.request-untagged",
     [](Conversation& it) { sends(it, {tagged_as(Opcode::read_request)}); }},
    {"rdmap.terminate.untagged-buffer",
     [](Conversation& it) { sends(it, {tagged_as(Opcode::terminate)}); }},
    {"rdmap.immediate.untagged-buffer",
     [](Conversation& it) { sends(it, {tagged_as(Opcode::immediate)}); }},
    {"rdmap.atomic.request-untagged",
     [](Conversation& it) { sends(it, {tagged_as(Opcode::atomic_request)}); }},
    {"rdmap.atomic.response-marked-untagged",
     [](Conversation& it) { sends(it, {tagged_as(Opcode::atomic_response)}); }},
    {"rdmap.send.queue-zero", [](Conversation& it) { sends(it, {ulpdu(Untagged{.queue = 1})}); }},
    {"rdmap.send.queue-zero",
     [](Conversation& it) { sends(it, {ulpdu(Untagged{.queue = 0xFFFFFFFF})}); }},
    {"rdmap.read.request-qn-field-one",
     [](Conversation& it) {
       sends(it, {changed(Opcode::read_request, 28, [](Untagged& fields) { fields.queue = 0; })});
     }},
    {"rdmap.terminate.queue-two",
     [](Conversation& it) {
       sends(it, {ulpdu(Untagged{.opcode = Opcode::terminate, .payload = Octets(4)})});
     }},
    {"rdmap.immediate.queue-zero",
     [](Conversation& it) {
       sends(it, {changed(Opcode::immediate, 8, [](Untagged& fields) { fields.queue = 2; })});
     }},
    {"rdmap.atomic.request-qn-field-one",
     [](Conversation& it) { sends(it, {flipped(atomic_request(1, fetch_add(1)), 9, 1)}); }},
    {"rdmap.atomic.response-qn-field-three",
     [](Conversation& it) {
       sends(it, {atomic_request(1, fetch_add(1))});
       it.send(responder, flipped(atomic_response(1, 1), 9, 2));
     }},
    {"rdmap.atomic.queue-three-responses-only",
     [](Conversation& it) { sends(it, {ulpdu(Untagged{.queue = 3})}); }},
    {"rdmap.read.request-header-format",
     [](Conversation& it) { sends(it, {changed(Opcode::read_request, 27, [](Untagged&) {})}); }},
    {"rdmap.read.request-carries-no-payload",
     [](Conversation& it) { sends(it, {extended(read_request(1), 4)}); }},
    {"rdmap.immediate.eight-octets-sent",
     [](Conversation& it) { sends(it, {changed(Opcode::immediate, 7, [](Untagged&) {})}); }},
    {"rdmap.immediate.eight-octets-sent",
     [](Conversation& it) {
       sends(it, {changed(Opcode::immediate_solicited, 9, [](Untagged&) {})});
     }},
    {"ddp.tagged.stag-valid-for-stream",
     [](Conversation& it) {
       sends(it, {ulpdu(Untagged{.opcode = Opcode::send_invalidate, .ulp_word = 0x100}),
                  write_piece(0, 9, true)});
     }},
    {"rdmap.terminate.nothing-sent-after",
     [](Conversation& it) {
       sends(it, {terminate(because(wire::cause::rdmap_local_catastrophic)), ulpdu(Untagged{}),
                  piece(2, 0, 9, true)});
     }},
    {"rdmap.read.response-opposite-direction",
     [](Conversation& it) {
       sends(it, {ulpdu(Untagged{})});
       it.send(responder, read_response());
       it.send(initiator, piece(2, 0, 9, true));
     }},
    {"rdmap.read.response-opposite-direction",
     [](Conversation& it) {
       sends(it, {ulpdu(Untagged{})});
       it.send(responder, read_response());
     }},
    {"rdmap.read.one-request-one-response",
     [](Conversation& it) {
       one_read(it, read_response());
       it.send(responder, read_response());
       it.send(initiator, read_request(2));
       it.send(responder, read_response());
     }},
    {"rdmap.read.one-request-one-response",
     [](Conversation& it) {
       sends(it, {read_request(1), read_request(2, {.sink = 0x501})});
       it.send(responder, read_response());
       it.send(responder, read_response());
       it.send(responder, read_response({.sink = 0x501}));
     }},
    {"rdmap.read.responses-in-request-order",
     [](Conversation& it) {
       sends(it, {read_request(1), read_request(2, {.sink_to = 0x9000})});
       it.send(responder, read_response({.sink_to = 0x9000}));
       it.send(responder, read_response());
     }},
    {"rdmap.read.sink-stag-copied",
     [](Conversation& it) { one_read(it, read_response({.sink = 0x00050000})); }},
    {"rdmap.read.sink-to-copied",
     [](Conversation& it) { one_read(it, read_response({.sink_to = 0x2008})); }},
    {"rdmap.read.sink-to-copied",
     [](Conversation& it) { one_read(it, read_response({.sink_to = 0})); }},
    {"rdmap.read.response-length-matches-request",
     [](Conversation& it) { one_read(it, read_response({.length = 15})); }},
    {"rdmap.read.response-length-matches-request",
     [](Conversation& it) { one_read(it, read_response({.length = 17})); }},
    {"rdmap.read.response-length-matches-request",
     [](Conversation& it) {
       one_read(it, read_response({.length = 0}));
       it.send(responder, ulpdu(Untagged{}));
     }},
};

// ----------------------------------------------------------------------------- Atomics

void one_atomic(Conversation& it, auto change) {
  wire::AtomicRequestHeader header = fetch_add(1);
  change(header);
  sends(it, {atomic_request(1, header)});
}

const std::vector<Bad> atomics{
    {"rdmap.atomic.request-header-52-octets",
     [](Conversation& it) { sends(it, {shortened(atomic_request(1, fetch_add(1)), 18 + 51)}); }},
    {"rdmap.atomic.no-ulp-payload",
     [](Conversation& it) { sends(it, {extended(atomic_request(1, fetch_add(1)), 1)}); }},
    {"rdmap.atomic.response-header-format",
     [](Conversation& it) {
       sends(it, {atomic_request(1, fetch_add(1))});
       it.send(responder, shortened(atomic_response(1, 1), 18 + 8));
     }},
    {"rdmap.atomic.no-ulp-payload",
     [](Conversation& it) {
       sends(it, {atomic_request(1, fetch_add(1))});
       it.send(responder, extended(atomic_response(1, 1), 20));
     }},
    {"rdmap.atomic.request-reserved-zero",
     [](Conversation& it) { one_atomic(it, [](auto& header) { header.operation = 0x10U; }); }},
    {"rdmap.atomic.aopcode-values",
     [](Conversation& it) { one_atomic(it, [](auto& header) { header.operation = 1U; }); }},
    {"rdmap.atomic.fetchadd-compare-data-zero",
     [](Conversation& it) {
       one_atomic(it, [](auto& header) { header.compare_data = std::uint64_t{1}; });
     }},
    {"rdmap.atomic.fetchadd-compare-mask-ones",
     [](Conversation& it) {
       one_atomic(it, [](auto& header) { header.compare_mask = std::uint64_t{0}; });
     }},
    {"rdmap.atomic.response-opposite-direction",
     [](Conversation& it) {
       sends(it, {ulpdu(Untagged{})});
       it.send(responder, atomic_response(1, 1));
       it.send(initiator, piece(2, 0, 9, true));
     }},
    {"rdmap.atomic.response-identifier-original",
     [](Conversation& it) {
       sends(it, {atomic_request(1, fetch_add(1))});
       it.send(responder, atomic_response(1, 2));
     }},
    {"rdmap.atomic.responses-in-request-order",
     [](Conversation& it) {
       sends(it, {atomic_request(1, fetch_add(1)), atomic_request(2, fetch_add(2))});
       it.send(responder, atomic_response(1, 2));
       it.send(responder, atomic_response(2, 1));
     }},
    {"rdmap.atomic.read-response-after-atomic-response",
     [](Conversation& it) {
       sends(it, {atomic_request(1, fetch_add(1)), read_request(2)});
       it.send(responder, read_response());
       it.send(responder, atomic_response(1, 1));
     }},
    {"rdmap.atomic.response-after-read-response",
     [](Conversation& it) {
       sends(it, {read_request(1), atomic_request(2, fetch_add(1))});
       it.send(responder, atomic_response(1, 1));
       it.send(responder, read_response());
     }},
};

// --------------------------------------------------------------------------- Terminate

const Octets a_send = ulpdu(Untagged{.payload = octets(9)});
const Octets a_write = ulpdu(Tagged{.payload = octets(9)});
const Octets a_read = read_request(1);

/// What the responder says of the initiator's message, `change`d.
void blamed(Conversation& it, const Octets& sent, wire::TerminateCause cause, auto change) {
  sends(it, {sent});
  wire::Terminate contents = blame(cause, sent);
  change(contents);
  it.send(responder, terminate(contents));
}

/// The same, with the octets after the DDP header changed.
void blamed_octets(Conversation& it, const Octets& sent, wire::TerminateCause cause, auto change) {
  sends(it, {sent});
  Octets octets_of_it = terminate(blame(cause, sent));
  change(octets_of_it);
  it.send(responder, octets_of_it);
}

/// A Terminate of a Read that was served in part, its offsets and size as given.
void read_cut_short(Conversation& it, const Read& rest) {
  const Octets request = read_request(1, {.length = 300});
  sends(it, {request});
  it.send(responder, response_part(0x2000, 100, false));
  wire::Terminate contents = blame(wire::cause::rdmap_invalid_stag, request);
  const Octets header_left = payload_of(header(rest));
  contents.rdmap_header = header_left;
  it.send(responder, terminate(contents));
}

constexpr auto nothing = [](wire::Terminate&) {};
/// The DDP segment length follows the untagged header and the four octets of control.
constexpr std::size_t behind_control = wire::untagged_header_size + 4;

/// The ULPDU of a Terminate whose control the bit-fields of a little-endian host laid out.
Octets in_host_order(Octets ulpdu) {
  constexpr std::size_t control = wire::untagged_header_size;
  const auto first = std::to_integer<unsigned>(ulpdu[control]);
  const auto bits = std::to_integer<unsigned>(ulpdu[control + 2]);
  ulpdu[control] = static_cast<std::byte>(first << 4U | first >> 4U);
  ulpdu[control + 2] =
      static_cast<std::byte>((bits >> 7U & 1U) | (bits >> 5U & 2U) | (bits >> 3U & 4U));
  return ulpdu;
}

const std::vector<Bad> terminates{
    {"rdmap.terminate.control-values-defined",
     [](Conversation& it) {
       sends(it, {a_write});
       Octets sent = terminate(blame(wire::cause::ddp_untagged_invalid_queue, a_write));
       sent[wire::untagged_header_size] = std::byte{0x21};  // EType, then Layer
       it.send(responder, sent);
     }},
    {"rdmap.terminate.header-format",
     [](Conversation& it) {
       sends(it, {a_read});
       it.send(responder, in_host_order(terminate(blame(wire::cause::rdmap_to_wrap, a_read))));
     }},
    {"rdmap.terminate.header-format",
     [](Conversation& it) {
       sends(it, {ulpdu(Untagged{.opcode = Opcode::terminate, .queue = 2, .payload = Octets(3)})});
     }},
    {"rdmap.terminate.carries-no-payload",
     [](Conversation& it) {
       blamed_octets(it, a_send, wire::cause::ddp_untagged_no_buffer,
                     [](Octets& all) { all = extended(all, 5); });
     }},
    {"rdmap.terminate.m-bit-per-figure",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::ddp_untagged_no_buffer, [](auto& that) { that.m = false; });
     }},
    {"rdmap.terminate.d-bit-per-figure",
     [](Conversation& it) {
       sends(it, {a_send});
       wire::Terminate contents = blame(wire::cause::rdmap_operation_unspecified, a_send);
       contents.d = contents.m = false;
       contents.segment_length = 0;
       it.send(responder, terminate(contents));
     }},
    {"rdmap.terminate.d-bit-per-figure",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::ddp_untagged_no_buffer, [](auto& that) {
         that.d = false;
         that.ddp_header = {};
       });
     }},
    {"rdmap.terminate.r-bit-per-figure",
     [](Conversation& it) {
       blamed(it, a_read, wire::cause::rdmap_unexpected_opcode, [](auto& that) { that.r = false; });
     }},
    {"rdmap.terminate.segment-length-present-with-d",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::ddp_untagged_no_buffer,
              [](auto& that) { that.segment_length.reset(); });
     }},
    {"rdmap.terminate.ddp-header-present-with-d",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::ddp_untagged_no_buffer,
              [](auto& that) { that.ddp_header = {}; });
     }},
    {"rdmap.terminate.ddp-header-size",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::ddp_untagged_no_buffer,
              [](auto& that) { that.ddp_header = that.ddp_header.first(14); });
     }},
    {"rdmap.terminate.rdma-header-present-with-r",
     [](Conversation& it) {
       blamed(it, a_read, wire::cause::rdmap_to_wrap, [](auto& that) { that.rdmap_header = {}; });
     }},
    {"rdmap.terminate.rdma-header-size",
     [](Conversation& it) {
       blamed(it, a_read, wire::cause::rdmap_to_wrap,
              [](auto& that) { that.rdmap_header = that.rdmap_header.first(24); });
     }},
    {"rdmap.terminate.reserved-zero",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::ddp_untagged_no_buffer,
              [](auto& that) { that.reserved = 1; });
     }},
    {"rdmap.terminate.control-values-defined",
     [](Conversation& it) { blamed(it, a_read, {0, 1, 0x7E}, nothing); }},
    {"rdmap.terminate.control-values-defined",
     [](Conversation& it) { sends(it, {terminate(because({2, 0, 0x7E}))}); }},
    {"ddp.terminate.error-numbers-used",
     [](Conversation& it) { blamed(it, a_write, {1, 1, 0x7E}, nothing); }},
    {"ddp.terminate.local-catastrophic",
     [](Conversation& it) { sends(it, {terminate(because({1, 0, 1}))}); }},
    {"rdmap.terminate.protection-error-causes",
     [](Conversation& it) { blamed(it, a_write, wire::cause::rdmap_invalid_stag, nothing); }},
    {"rdmap.terminate.code-invalid-version",
     [](Conversation& it) { blamed(it, a_send, wire::cause::rdmap_invalid_version, nothing); }},
    {"rdmap.terminate.code-invalid-version",
     [](Conversation& it) {
       blamed(it, flipped(a_send, 1, 0xC0), wire::cause::rdmap_unexpected_opcode, nothing);
       std::erase_if(it.findings, [](const Finding& finding) {
         return finding.rule.id == "rdmap.header.version-one";
       });
     }},
    {"rdmap.terminate.code-unexpected-opcode",
     [](Conversation& it) {
       blamed(it, ulpdu(Untagged{.queue = 1}), wire::cause::rdmap_invalid_version, nothing);
       std::erase_if(it.findings, [](const Finding& finding) {
         return finding.rule.id == "rdmap.send.queue-zero";
       });
     }},
    {"rdmap.terminate.code-cannot-invalidate-protection",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::rdmap_protection_cannot_invalidate, nothing);
     }},
    {"rdmap.terminate.code-cannot-invalidate-operation",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::rdmap_operation_cannot_invalidate, nothing);
     }},
    {"rdmap.terminate.local-catastrophic-no-ddp-header",
     [](Conversation& it) { blamed(it, a_send, wire::cause::rdmap_local_catastrophic, nothing); }},
    {"rdmap.terminate.local-catastrophic-no-headers",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::rdmap_local_catastrophic, [](auto& that) {
         that.d = false;
         that.ddp_header = {};
       });
     }},
    {"rdmap.terminate.protection-error-ddp-header",
     [](Conversation& it) {
       sends(it, {a_read});
       it.send(responder, terminate(because(wire::cause::rdmap_invalid_stag)));
     }},
    {"rdmap.terminate.operation-error-ddp-header",
     [](Conversation& it) {
       sends(it, {a_read});
       it.send(responder, terminate(because(wire::cause::rdmap_unexpected_opcode)));
     }},
    {"rdmap.terminate.ddp-error-ddp-header",
     [](Conversation& it) {
       sends(it, {a_write});
       it.send(responder, terminate(because(wire::cause::ddp_tagged_to_wrap)));
     }},
    {"rdmap.terminate.llp-error-no-headers",
     [](Conversation& it) { blamed(it, a_send, wire::cause::mpa_crc, nothing); }},
    {"rdmap.terminate.protection-error-rdma-header",
     [](Conversation& it) {
       blamed(it, a_read, wire::cause::rdmap_invalid_stag, [](auto& that) {
         that.r = false;
         that.rdmap_header = {};
       });
     }},
    {"rdmap.terminate.operation-error-no-rdma-header",
     [](Conversation& it) {
       sends(it, {a_send});
       wire::Terminate contents = because(wire::cause::rdmap_operation_unspecified);
       contents.r = true;
       const Octets read_header = payload_of(header(Read{}));
       contents.rdmap_header = read_header;
       it.send(responder, terminate(contents));
     }},
    {"rdmap.terminate.ddp-error-no-rdma-header",
     [](Conversation& it) {
       blamed(it, a_read, wire::cause::ddp_untagged_no_buffer, [](auto& that) {
         that.r = true;
         that.rdmap_header = wire::Bytes(a_read).subspan(wire::untagged_header_size);
       });
     }},
    {"rdmap.terminate.rdma-header-only-for-reads",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::rdmap_operation_unspecified, [](auto& that) {
         that.r = true;
         that.rdmap_header = wire::Bytes(a_read).subspan(wire::untagged_header_size);
       });
     }},
    {"rdmap.terminate.ddp-header-copied",
     [](Conversation& it) {
       blamed_octets(it, a_send, wire::cause::ddp_untagged_no_buffer,
                     [](Octets& all) { all = flipped(all, behind_control + 2 + 13, 0x04); });
     }},
    {"rdmap.terminate.segment-length-value",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::ddp_untagged_no_buffer,
              [](auto& that) { that.segment_length = 9; });
     }},
    {"rdmap.terminate.read-header-original",
     [](Conversation& it) {
       sends(it, {a_read});
       wire::Terminate contents = blame(wire::cause::rdmap_invalid_stag, a_read);
       const Octets other = payload_of(header(Read{.source = 0x601}));
       contents.rdmap_header = other;
       it.send(responder, terminate(contents));
     }},
    {"rdmap.terminate.read-header-keeps-stags",
     [](Conversation& it) {
       read_cut_short(it, {.sink_to = 0x2064, .length = 200, .source = 0x601, .source_to = 0x3064});
     }},
    {"rdmap.terminate.read-header-advances-offsets",
     [](Conversation& it) { read_cut_short(it, {.length = 300}); }},
    {"rdmap.terminate.read-header-size-remaining",
     [](Conversation& it) {
       read_cut_short(it, {.sink_to = 0x2064, .length = 300, .source_to = 0x3064});
     }},
    {"rdmap.terminate.graceful-llp-teardown",
     [](Conversation& it) {
       sends(it, {terminate(because(wire::cause::rdmap_local_catastrophic))});
       it.reset(initiator);
     }},
};

/// The rules that the checks of one .def file can name.
#define ANALYZER_CHECK(name, ...) __VA_ARGS__,
constexpr rules::RuleId startup_rules[]{
#include "dissectors/analyzer/startup_rules.def"
};
constexpr rules::RuleId ddp_rules[]{
#include "dissectors/analyzer/ddp_rules.def"
};
constexpr rules::RuleId rdmap_rules[]{
#include "dissectors/analyzer/rdmap_rules.def"
};
constexpr rules::RuleId atomic_rules[]{
#include "dissectors/analyzer/atomic_rules.def"
};
constexpr rules::RuleId terminate_rules[]{
#include "dissectors/analyzer/terminate_rules.def"
};
#undef ANALYZER_CHECK

/// Each conversation gives one finding, which names its rule; together they name all in `checked`.
void judge(const std::vector<Bad>& table, std::span<const rules::RuleId> checked) {
  std::set<std::string_view> named;
  for (const Bad& bad : table) {
    BOOST_TEST_CONTEXT(bad.rule) {
      Conversation conversation;
      bad.happens(conversation);
      conversation.finish();
      BOOST_TEST(conversation.findings.size() == 1U);
      for (const Finding& finding : conversation.findings) {
        BOOST_TEST(finding.rule.id == bad.rule);
        BOOST_TEST(!finding.actual.empty());
        BOOST_TEST(!finding.admissible.empty());
        named.insert(finding.rule.id);
        for (const rules::RuleId also : finding.also) named.insert(also.id);
      }
    }
  }
  for (const rules::RuleId rule : checked)
    BOOST_TEST(named.contains(rule.id), rule.id << " has no conversation that breaks it");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bad)

BOOST_AUTO_TEST_CASE(startup_checks) { judge(startup, startup_rules); }
BOOST_AUTO_TEST_CASE(ddp_checks) { judge(ddp, ddp_rules); }
BOOST_AUTO_TEST_CASE(rdmap_checks) {
  std::vector<Bad> all = rdmap;
  all.insert(all.end(), ddp.begin(), ddp.end());
  judge(all, rdmap_rules);
}
BOOST_AUTO_TEST_CASE(atomic_checks) { judge(atomics, atomic_rules); }
BOOST_AUTO_TEST_CASE(terminate_checks) { judge(terminates, terminate_rules); }

BOOST_AUTO_TEST_CASE(a_fault_of_layout_hides_no_other) {
  const auto found = [](auto change) {
    Conversation it;
    sends(it, {a_send});
    wire::Terminate contents = blame(wire::cause::ddp_untagged_no_buffer, a_send);
    change(contents);
    it.send(responder, in_host_order(terminate(contents)));
    it.finish();
    std::set<std::string_view> rules;
    for (const Finding& finding : it.findings) rules.insert(finding.rule.id);
    return rules;
  };
  using Rules = std::set<std::string_view>;
  constexpr std::string_view layout = "rdmap.terminate.header-format";
  BOOST_TEST((found([](auto&) {}) == Rules{layout}));
  BOOST_TEST((found([](auto& that) { that.segment_length = 0; }) ==
              Rules{layout, "rdmap.terminate.segment-length-value"}));
  Octets other = a_send;
  other.back() = std::byte{0x77};
  other[5] = std::byte{9};
  BOOST_TEST((found([&](auto& that) {
                that.ddp_header = wire::Bytes(other).first(that.ddp_header.size());
              }) == Rules{layout, "rdmap.terminate.ddp-header-copied"}));
  BOOST_TEST((found([](auto& that) { that.cause = wire::cause::rdmap_invalid_version; }) ==
              Rules{layout, "rdmap.terminate.code-invalid-version"}));
}

BOOST_AUTO_TEST_CASE(a_segment_that_never_came_whole_may_be_blamed) {
  for (const bool unfinished : {false, true}) {
    Conversation it;
    sends(it, {a_write});
    if (unfinished) it.end_within_fpdu(initiator);
    it.send(responder, terminate(blame(wire::cause::ddp_untagged_no_buffer, a_send)));
    it.finish();
    std::set<std::string_view> rules;
    for (const Finding& finding : it.findings) rules.insert(finding.rule.id);
    BOOST_TEST(rules.contains("rdmap.terminate.ddp-header-copied") != unfinished);
  }
}

BOOST_AUTO_TEST_CASE(each_rule_that_a_trace_shows_is_checked) {
  const auto checked = [](std::string_view id) {
    return std::ranges::binary_search(checked_rules(), id, {}, &rules::RuleId::id);
  };
  for (const rules::Rule& rule : rules::all())
    if (rule.check == rules::Check::passive && rule.needs.empty())
      BOOST_TEST(checked(rule.id), rule.id);
}

BOOST_AUTO_TEST_CASE(no_rule_is_checked_that_the_catalogue_calls_out_of_sight) {
  for (const rules::RuleId checked : checked_rules()) {
    const rules::Check how = rules::find(checked.id)->check;
    BOOST_TEST((how == rules::Check::passive || how == rules::Check::active), checked.id);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace dissectors::analyzer::tests
