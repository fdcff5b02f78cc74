// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/run_summary.hpp"

#include <boost/test/unit_test.hpp>

using namespace suite::runner;
namespace results = suite::results;

namespace {

results::CaseRecord record(const std::string& id, results::Verdict verdict,
                           const std::string& reason = "") {
  results::CaseRecord one;
  one.id = id;
  one.layer = id.substr(0, id.find('.'));
  one.outcome.verdict = verdict;
  one.outcome.reason = reason;
  return one;
}

results::Document complete_run(results::Verdict last_sentinel) {
  results::Document run;
  run.run.complete = true;
  run.cases = {record("ddp.a.b", results::Verdict::pass),
               record("harness.sentinel.alive.last", last_sentinel, "no reply")};
  return run;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(run_summary)

BOOST_AUTO_TEST_CASE(an_iut_that_does_not_answer_at_the_end_is_no_good_run) {
  const auto good = complete_run(results::Verdict::pass);
  BOOST_TEST(!findings_of(good).harness);
  BOOST_TEST(!death_at_the_end(good).has_value());
  const auto dead = complete_run(results::Verdict::error);
  BOOST_TEST(findings_of(dead).harness);
  BOOST_TEST((exit_code(findings_of(dead)) == suite::jobs::ExitCode::harness));
  BOOST_TEST(outcome_text(dead, "out").starts_with("the IUT did not answer at the end of the run"));
}

BOOST_AUTO_TEST_CASE(a_failure_that_did_not_come_again_alone_is_told) {
  auto run = complete_run(results::Verdict::pass);
  auto beside = record("ddp.a.b", results::Verdict::fail);
  beside.gate.result = results::GateResult::superseded;
  beside.failed_beside_others = true;
  run.cases.insert(run.cases.begin(), beside);
  beside.id = "ddp.a.c";
  run.cases.insert(run.cases.begin(), beside);
  run.cases.push_back(record("ddp.a.c", results::Verdict::fail));
  BOOST_TEST(
      outcome_text(run, "out").find("failed beside other cases, and passed alone: ddp.a.b\n") !=
          std::string::npos,
      outcome_text(run, "out"));
}

BOOST_AUTO_TEST_CASE(a_run_on_hardware_says_which_claims_would_bring_more) {
  auto run = complete_run(results::Verdict::pass);
  using Kind = results::Lack::Kind;
  for (const results::Lack& lack : {results::Lack{Kind::not_offered, "enhanced_startup"},
                                    {Kind::not_offered, "enhanced_startup"},
                                    {Kind::not_offered, "configure.crc"},
                                    {Kind::denied, "atomics"},
                                    {Kind::limit, "max_pieces"}}) {
    run.cases.push_back(record("mpa.a.b", results::Verdict::not_applicable, "not applicable"));
    run.cases.back().outcome.lack = lack;
  }
  BOOST_TEST(outcome_text(run, "out").find("not judged") == std::string::npos);
  run.run.lab.kind = results::LabKind::external;
  BOOST_TEST(
      outcome_text(run, "out")
              .find("not judged, since what they need is not claimed: 1 need configure.crc, 2 need "
                    "enhanced_startup; ") != std::string::npos,
      outcome_text(run, "out"));
}

BOOST_AUTO_TEST_SUITE_END()
