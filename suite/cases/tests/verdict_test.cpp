// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How endings, rows and expectations determine one verdict:
// the worst counts, of equals the first.
#include <boost/test/unit_test.hpp>

#include <utility>
#include <vector>

#include "suite/cases/framework/body_verdict.hpp"
#include "suite/cases/framework/excuses.hpp"

using namespace suite::cases;

namespace {

ExpectationRecord made(Judgement judgement) {
  return {.rule = "a.rule",
          .row = {},
          .admissible = {"truth", "silence"},
          .actual = "a lie",
          .hex = {},
          .judgement = judgement,
          .direction = Direction::none,
          .at = {}};
}

const std::vector<ExpectationRecord> kept{made(Judgement::pass), made(Judgement::advisory)};
const std::vector<ExpectationRecord> broken{made(Judgement::pass), made(Judgement::fail)};

}  // namespace

BOOST_AUTO_TEST_SUITE(verdict)

BOOST_AUTO_TEST_CASE(expectations_that_hold_make_a_pass_and_none_at_all_an_error) {
  const Ruling passed = verdict_of("case", {}, {}, kept);
  BOOST_TEST((passed.verdict == Verdict::pass && passed.reason.empty()));
  const Ruling idle = verdict_of("row", {}, {}, {});
  BOOST_TEST((idle.verdict == Verdict::error));
  BOOST_TEST(idle.reason == "the row expected nothing");
}

BOOST_AUTO_TEST_CASE(what_was_sent_wrongly_fails_a_body_that_reached_its_end) {
  const Ruling ruling = verdict_of("case", {}, {}, broken);
  BOOST_TEST((ruling.verdict == Verdict::fail));
  BOOST_TEST(ruling.reason == "a.rule: a lie in place of truth");
}

BOOST_AUTO_TEST_CASE(a_finding_fails_the_cases_that_are_about_it_alone) {
  using Rules = std::vector<std::string_view>;
  const char* must = "mpa.framing.pad-sent-as-zero";
  const char* should = "mpa.segmentation.segments-begin-with-fpdu";
  const char* aim = "mpa.startup.revision-one-sent";
  const auto ruling = [](std::string_view rule, const Rules& also, const Rules& aims, bool strict) {
    return rule_on_finding({.rule = rule, .also = also, .aims = aims, .strict = strict});
  };
  BOOST_TEST((ruling(must, {}, Rules{aim, must}, false).judgement == Judgement::fail));
  const FindingRuling passing = ruling(must, {}, Rules{aim}, false);
  BOOST_TEST((passing.judgement == Judgement::also_seen && passing.rule == must));
  // Of the rules that one fault breaks the case's own is named.
  const FindingRuling other = ruling(must, {aim}, Rules{aim}, false);
  BOOST_TEST((other.judgement == Judgement::fail && other.rule == aim));
  BOOST_TEST((ruling(should, {}, Rules{should}, false).judgement == Judgement::advisory));
  BOOST_TEST((ruling(should, {}, Rules{aim}, false).judgement == Judgement::advisory));
  BOOST_TEST((ruling(should, {}, Rules{should}, true).judgement == Judgement::fail));
  BOOST_TEST((ruling(should, {}, Rules{aim}, true).judgement == Judgement::also_seen));
}

BOOST_AUTO_TEST_CASE(what_was_also_seen_leaves_the_verdict_alone) {
  const std::vector<ExpectationRecord> seen{made(Judgement::pass), made(Judgement::also_seen)};
  BOOST_TEST((verdict_of("case", {}, {}, seen).verdict == Verdict::pass));
}

// docs/disputes.md D65.
BOOST_AUTO_TEST_CASE(a_lower_fault_excuses_what_the_testers_stream_did_not_survive) {
  ExpectationRecord found = made(Judgement::also_seen);
  found.rule = "mpa.framing.pad-sent-as-zero";
  found.row = "row";
  found.place = StreamPlace{};
  const std::vector<ExpectationRecord> all{found};
  const RowSoFar survived{.row = "row", .made = all, .stream_gave_up = false};
  const RowSoFar ended{.row = "row", .made = all, .stream_gave_up = true};
  const RowSoFar another{.row = "another", .made = all, .stream_gave_up = true};
  const char *above = "ddp.tagged.placed-at-to", *beside = "mpa.crc.support-implemented";
  BOOST_TEST(excused_by_lower_layer(above, ended));
  BOOST_TEST(!excused_by_lower_layer(above, survived));
  BOOST_TEST(!excused_by_lower_layer(above, another));
  BOOST_TEST(!excused_by_lower_layer(beside, ended));
  BOOST_TEST((end_is_explained(ended) && !end_is_explained(survived)));
  // Without the CRC field it waits for octets that do not come.
  std::vector<ExpectationRecord> unreadable = all;
  unreadable.front().rule = "mpa.crc.field-present-when-disabled";
  BOOST_TEST(excused_by_lower_layer(above, {"row", unreadable, false}));
  unreadable.front().rule = "mpa.framing.fpdu-layout";
  BOOST_TEST(excused_by_lower_layer(above, {"row", unreadable, false}));
}

// docs/disputes.md D65.
BOOST_AUTO_TEST_CASE(a_wrong_crc_is_named_in_place_of_a_rule_above_it) {
  ExpectationRecord found = made(Judgement::also_seen);
  found.rule = "mpa.crc.crc32c-as-in-iscsi";
  found.row = "row";
  found.place = StreamPlace{};
  const std::vector<ExpectationRecord> all{found};
  const RowSoFar here{.row = "row", .made = all, .stream_gave_up = false};
  const RowSoFar another{.row = "another", .made = all, .stream_gave_up = false};
  const char *above = "rdmap.send.delivered-in-order", *beside = "mpa.crc.disabled-only-by-both";
  BOOST_TEST(wrong_crc_below(above, here) == found.rule);
  BOOST_TEST(wrong_crc_below(above, another).empty());
  BOOST_TEST(wrong_crc_below(beside, here).empty());
  found.judgement = Judgement::advisory;
  const std::vector<ExpectationRecord> advised{found};
  BOOST_TEST(wrong_crc_below(above, {"row", advised, false}).empty());
}

BOOST_AUTO_TEST_CASE(an_early_end_counts_unless_something_is_worse) {
  const CaseStop stop{Verdict::inconclusive, "did not come up"};
  const Ruling ended = verdict_of("case", stop, {}, kept);
  BOOST_TEST((ended.verdict == Verdict::inconclusive && ended.reason == stop.reason));
  BOOST_TEST((verdict_of("row", stop, {}, broken).verdict == Verdict::fail));
  const CaseStop lacking{Verdict::not_applicable, "no atomics"};
  BOOST_TEST((verdict_of("case", lacking, {}, kept).verdict == Verdict::not_applicable));
  BOOST_TEST((verdict_of("case", lacking, {}, {}).verdict == Verdict::not_applicable));
  BOOST_TEST((verdict_of("case", lacking, {}, broken).verdict == Verdict::fail));
  const CaseStop lost{Verdict::error, "gone"};
  BOOST_TEST(verdict_of("case", lost, {}, broken).reason == "gone");
}

BOOST_AUTO_TEST_CASE(an_upper_tester_that_falls_silent_hides_no_failed_expectation) {
  for (const auto& [words, why] :
       {std::pair{"no reply of the upper tester to: reset", Silence::no_reply},
        std::pair{"the upper tester is gone: hung", Silence::agent_gone}}) {
    const CaseStop silent{.verdict = Verdict::error, .reason = words, .silence = why};
    const Ruling failed = verdict_of("case", silent, {}, broken);
    BOOST_TEST((failed.verdict == Verdict::fail));
    BOOST_TEST(failed.reason ==
               std::string("a.rule: a lie in place of truth; after that: ") + words);
    BOOST_TEST((verdict_of("case", silent, {}, kept).verdict == Verdict::error));
  }
}

BOOST_AUTO_TEST_CASE(rows_tell_their_name_and_are_not_applicable_only_together) {
  const RowOutcome good{"one", Verdict::pass, {}}, bad{"two", Verdict::fail, "so"},
      lacking{"three", Verdict::not_applicable, "no markers"};
  const auto ruling_on = [](const std::vector<RowOutcome>& rows) {
    return verdict_of("case", {}, rows, kept);
  };
  BOOST_TEST(ruling_on({good, bad, lacking}).reason == "row two: so");
  BOOST_TEST((ruling_on({good, lacking}).verdict == Verdict::pass));
  BOOST_TEST((ruling_on({lacking, lacking}).verdict == Verdict::not_applicable));
  BOOST_TEST(ruling_on({lacking, lacking}).reason == "no markers");
}

BOOST_AUTO_TEST_CASE(of_two_endings_the_worse_stays_and_of_equals_the_first) {
  std::optional<CaseStop> end;
  keep_worse(end, {Verdict::not_applicable, "a"});
  BOOST_TEST((end && end->verdict == Verdict::not_applicable));
  keep_worse(end, {Verdict::inconclusive, "b"});
  keep_worse(end, {Verdict::inconclusive, "c"});
  keep_worse(end, {Verdict::not_applicable, "d"});
  BOOST_TEST(end->reason == "b");
  keep_worse(end, {Verdict::error, "e"});
  keep_worse(end, {Verdict::fail, "f"});
  BOOST_TEST(end->reason == "e");
}

BOOST_AUTO_TEST_CASE(an_advisory_fails_in_a_strict_run_alone) {
  BOOST_TEST((weighed(Judgement::advisory, true) == Judgement::fail));
  BOOST_TEST((weighed(Judgement::advisory, false) == Judgement::advisory));
  BOOST_TEST((weighed(Judgement::inconclusive, true) == Judgement::inconclusive));
}

BOOST_AUTO_TEST_SUITE_END()
