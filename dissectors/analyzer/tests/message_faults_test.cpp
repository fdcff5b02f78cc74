// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// For each check of DDP, RDMAP and Atomics a conversation that it alone complains of.
#include "dissectors/analyzer/atomic_rules.hpp"
#include "dissectors/analyzer/tests/bad_conversation.hpp"

namespace dissectors::analyzer::tests {

namespace {

constexpr std::uint8_t c = wire::MpaFlags::c;

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

/// The untagged header's octets as a tagged segment, whose fields are then at other places.
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

constexpr rules::RuleId ddp_rules[]{
#define ANALYZER_CHECK(name, ...) __VA_ARGS__,
#include "dissectors/analyzer/ddp_rules.def"
#undef ANALYZER_CHECK
};
constexpr rules::RuleId rdmap_rules[]{
#define ANALYZER_CHECK(name, ...) __VA_ARGS__,
#include "dissectors/analyzer/rdmap_rules.def"
#undef ANALYZER_CHECK
};
constexpr rules::RuleId atomic_rules[]{
#define ANALYZER_CHECK(name, ...) __VA_ARGS__,
#include "dissectors/analyzer/atomic_rules.def"
#undef ANALYZER_CHECK
};

}  // namespace

BOOST_AUTO_TEST_SUITE(bad)

BOOST_AUTO_TEST_CASE(ddp_checks) { judge(ddp, ddp_rules); }
BOOST_AUTO_TEST_CASE(rdmap_checks) {
  std::vector<Bad> all = rdmap;
  all.insert(all.end(), ddp.begin(), ddp.end());
  judge(all, rdmap_rules);
}
BOOST_AUTO_TEST_CASE(atomic_checks) { judge(atomics, atomic_rules); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace dissectors::analyzer::tests
