// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Who is blamed for what.
#include <boost/test/unit_test.hpp>

#include <set>

#include "plugfest/scenarios/scenario.hpp"
#include "plugfest/verdict.hpp"

using namespace plugfest;

namespace {

Check check(bool good) { return {Side::responder, "contents", "a", good ? "a" : "b", good}; }
WireFinding finding(std::string level, std::optional<Side> side) {
  return {.rule = "r",
          .level = std::move(level),
          .also = {},
          .side = side,
          .actual = "x",
          .admissible = "y"};
}
Outcome judged(std::vector<Check> checks, std::vector<WireFinding> findings) {
  Outcome outcome;
  outcome.checks = std::move(checks);
  outcome.findings = std::move(findings);
  judge(outcome);
  return outcome;
}
void expect(const Outcome& outcome, Verdict verdict, Fault fault) {
  BOOST_TEST(name(outcome.verdict) == name(verdict));
  BOOST_TEST(name(outcome.fault) == name(fault));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(verdict)

BOOST_AUTO_TEST_CASE(the_wire_tells_whose_fault_it_is) {
  expect(judged({check(true)}, {}), Verdict::pass, Fault::none);
  expect(judged({check(false)}, {}), Verdict::fail, Fault::unknown);
  expect(judged({check(true)}, {finding("must", Side::responder)}), Verdict::fail,
         Fault::responder);
  expect(judged({check(false)}, {finding("must", Side::initiator)}), Verdict::fail,
         Fault::initiator);
  expect(
      judged({check(true)}, {finding("must", Side::initiator), finding("must", Side::responder)}),
      Verdict::fail, Fault::both);
  expect(judged({check(true)}, {finding("must", std::nullopt)}), Verdict::fail, Fault::unknown);
}

BOOST_AUTO_TEST_CASE(a_should_is_an_advisory_and_no_blame) {
  const Outcome soft = judged({check(true)}, {finding("should", Side::responder)});
  expect(soft, Verdict::pass, Fault::none);
  BOOST_TEST(soft.advisory);
  expect(judged({check(false)}, {finding("should", Side::responder)}), Verdict::fail,
         Fault::unknown);
}

BOOST_AUTO_TEST_CASE(what_the_scenario_had_done_is_nobodys_fault) {
  auto deliberate = finding("must", Side::initiator);
  deliberate.provoked = true;
  expect(judged({check(true)}, {deliberate}), Verdict::pass, Fault::none);
  expect(judged({check(false)}, {deliberate}), Verdict::fail, Fault::unknown);
}

BOOST_AUTO_TEST_CASE(nothing_looked_at_is_never_green) {
  expect(judged({}, {}), Verdict::error, Fault::none);
  Outcome unseen;
  unseen.checks = {check(true)};
  unseen.capture_trouble = "no interface";
  judge(unseen);
  expect(unseen, Verdict::inconclusive, Fault::none);
}

BOOST_AUTO_TEST_CASE(the_table_of_scenarios) {
  std::set<std::string_view> names;
  for (const Scenario& scenario : scenarios()) {
    BOOST_TEST(names.insert(scenario.name).second, scenario.name);
    BOOST_TEST(!scenario.title.empty());
    BOOST_TEST(scenario.length > 0);
    BOOST_TEST((scenario.play != nullptr));
  }
  BOOST_TEST(names.size() >= 25);
  BOOST_TEST((find_scenario("send.quickly") == nullptr));
}

BOOST_AUTO_TEST_CASE(a_scenario_that_stopped_says_how_and_the_wire_says_who) {
  Outcome outcome;
  outcome.findings = {finding("must", Side::responder)};
  judge(outcome, ScenarioStop{Verdict::error, Fault::unknown, "the agent is gone"});
  BOOST_TEST((outcome.verdict == Verdict::error));
  BOOST_TEST((outcome.fault == Fault::responder));
  BOOST_TEST(outcome.reason == "the agent is gone");
  judge(outcome, ScenarioStop{Verdict::not_applicable, Fault::none, "it has no atomics"});
  BOOST_TEST((outcome.fault == Fault::none));
}

BOOST_AUTO_TEST_CASE(a_complaint_of_a_kernel_fails_the_cell) {
  Outcome outcome;
  outcome.verdict = Verdict::pass;
  add_kernel_complaint(outcome, Side::initiator, "BUG: at x\nCall Trace:");
  BOOST_TEST((outcome.verdict == Verdict::fail));
  BOOST_TEST((outcome.fault == Fault::initiator));
  BOOST_TEST(outcome.reason == "the initiator's kernel complained: BUG: at x");
  BOOST_TEST(outcome.said.back().text == "kernel log:\nBUG: at x\nCall Trace:");
  add_kernel_complaint(outcome, Side::responder, "WARN");
  BOOST_TEST((outcome.fault == Fault::both));
}

BOOST_AUTO_TEST_SUITE_END()
