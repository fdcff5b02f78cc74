// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A rule is credited by what was evaluated and seen to fail, and never by the head of a case.
#include "suite/runner/coverage.hpp"

#include <fstream>

#include <boost/test/unit_test.hpp>

#include "base/record/json_writer.hpp"
#include "suite/results/record_tables.hpp"

namespace suite::runner {

namespace {

using results::Judgement;

constexpr std::string_view rule = "ddp.header.dv-is-one";

SuiteParts one_case() {
  SuiteParts parts;
  parts.table.resize(1);
  parts.table.front().id = "a.b.c";
  parts.table.front().rules = {rule};
  return parts;
}

results::CaseRecord attempt(const std::string& id, results::GateResult result) {
  results::CaseRecord made;
  made.id = id;
  made.rules = {std::string(rule)};
  made.start = "2026-01-02T03:04:05.6Z";
  made.gate.result = result;
  return made;
}

results::ExpectationRecord expectation(const std::string& about, Judgement judgement) {
  results::ExpectationRecord made;
  made.rule = about;
  made.admissible = {"truth"};
  made.judgement = judgement;
  return made;
}

RuleChecks checks(const Evaluated& evaluated) { return checks_of(one_case(), evaluated).at(rule); }

}  // namespace

BOOST_AUTO_TEST_SUITE(coverage)

BOOST_AUTO_TEST_CASE(the_head_of_a_case_credits_nothing) {
  const RuleChecks found = checks({});
  BOOST_TEST(found.aims.size() == 1U);
  BOOST_TEST(!found.is_judged());
  BOOST_TEST(!found.is_credited());
  BOOST_TEST(how_judged(*rules::find(rule), found) == "not");
}

BOOST_AUTO_TEST_CASE(an_evaluated_expectation_is_credited_once_seen_to_fail) {
  Evaluated evaluated;
  evaluated.judged["a.b.c"].insert(std::string(rule));
  BOOST_TEST(checks(evaluated).is_judged());
  BOOST_TEST(!checks(evaluated).is_credited());
  // That it failed in another case, which did not evaluate it here, does not count for this one.
  evaluated.seen_to_fail["d.e.f"][std::string(rule)] = {"some_deviation"};
  BOOST_TEST(!checks(evaluated).is_credited());
  evaluated.seen_to_fail["a.b.c"][std::string(rule)] = {"some_deviation"};
  BOOST_TEST(checks(evaluated).is_credited());
  BOOST_TEST(how_judged(*rules::find(rule), checks(evaluated)) == "actively");
}

BOOST_AUTO_TEST_CASE(frames_judge_for_themselves) {
  Evaluated evaluated;
  evaluated.in_frames["a.b.c"].insert(std::string(rule));
  BOOST_TEST(checks(evaluated).is_credited());
  BOOST_TEST(how_judged(*rules::find(rule), checks(evaluated)) == "by frames");
  BOOST_TEST(checks(evaluated).seen_to_fail_by.empty());
  evaluated.seen_to_fail["a.b.c"][std::string(rule)] = {"some_deviation"};
  BOOST_TEST(checks(evaluated).seen_to_fail_by.contains("some_deviation"));
}

BOOST_AUTO_TEST_CASE(a_run_is_read_by_what_it_has_evaluated) {
  const auto folder = std::filesystem::temp_directory_path() / "rnic_coverage_test";
  std::filesystem::create_directories(folder);
  results::Document run;
  run.run.start = "2026-01-02T03:04:05.6Z";
  run.cases = {attempt("a", results::GateResult::superseded),
               attempt("b", results::GateResult::as_expected)};
  run.cases[0].outcome.expectations = {expectation("r", Judgement::pass)};
  run.cases[1].outcome.judged_in_frames = {"f"};
  run.cases[1].outcome.expectations = {expectation("r", Judgement::inconclusive),
                                       expectation("s", Judgement::fail),
                                       expectation("t", Judgement::also_seen)};
  std::ofstream(folder / "results.json") << base::record::to_json(run);
  const auto read = evaluated_in(folder);
  BOOST_REQUIRE(read.has_value());
  BOOST_TEST((read->judged == RulesByCase{{"b", {"s"}}}));
  BOOST_TEST((read->in_frames == RulesByCase{{"b", {"f"}}}));
  std::ofstream(folder / "results.json") << "[]";
  BOOST_TEST(!evaluated_in(folder).has_value());
  std::filesystem::remove_all(folder);
  BOOST_TEST(!evaluated_in(folder).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace suite::runner
