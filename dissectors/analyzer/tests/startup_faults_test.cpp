// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// For each check of MPA startup a conversation that it alone complains of.
#include "dissectors/analyzer/startup_rules.hpp"
#include "dissectors/analyzer/tests/bad_conversation.hpp"

namespace dissectors::analyzer::tests {

namespace {

constexpr std::uint8_t c = wire::MpaFlags::c, s = wire::MpaFlags::s, r = wire::MpaFlags::r;
constexpr Values all_kinds{true, true, true, true, 8, 8};
constexpr Values depths{.ird = 8, .ord = 8};

Values with(Values values, auto change) {
  change(values);
  return values;
}

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
       it.knowing(0);
       it.send(initiator, ulpdu(Untagged{}));
       it.reset(initiator);
     }},
    {"mpa.enhanced.error-codes-five-six-seven",
     [](Conversation& it) {
       it.start();
       it.send(initiator, ulpdu(Untagged{}));
       it.send(responder, ulpdu(Untagged{}));
       it.send(responder, terminate(because(wire::cause::mpa_insufficient_ird)));
     }},
    {"mpa.enhanced.error-codes-five-six-seven",
     [](Conversation& it) {
       it.start();
       it.send(initiator, ulpdu(Untagged{}));
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

constexpr rules::RuleId startup_rules[]{
#define ANALYZER_CHECK(name, ...) __VA_ARGS__,
#include "dissectors/analyzer/startup_rules.def"
#undef ANALYZER_CHECK
};

}  // namespace

BOOST_AUTO_TEST_SUITE(bad)

BOOST_AUTO_TEST_CASE(startup_checks) { judge(startup, startup_rules); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace dissectors::analyzer::tests
