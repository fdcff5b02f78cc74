// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What makes two runs differ.
#include <boost/test/unit_test.hpp>

#include "plugfest/compare.hpp"

using namespace plugfest;
using suite::results::GateResult;

namespace {

GateResult usual(Verdict verdict) {
  return verdict == Verdict::fail ? GateResult::new_failure : GateResult::as_expected;
}

ListedCell cell(const std::string& id, Verdict verdict, GateResult gate, bool varies = false) {
  ListedCell made;
  made.record.id = id;
  made.record.outcome.verdict = verdict;
  made.record.outcome.reason = std::string("r-") + name(verdict);
  made.gate.result = gate;
  made.varies = varies;
  return made;
}
ListedCell cell(const std::string& id, Verdict verdict) {
  return cell(id, verdict, usual(verdict));
}

ListedCell advised(const std::string& id) {
  ListedCell made = cell(id, Verdict::pass);
  made.record.outcome.advisory = true;
  return made;
}

Endings endings_of(const std::vector<ListedCell>& cells) {
  Endings made;
  for (const ListedCell& each : cells) add(made, each);
  return made;
}

/// The one difference of two runs of one cell, "BEFORE > AFTER: REASON"; empty: none.
std::string between(const ListedCell& before, const ListedCell& after) {
  const auto found = differences(endings_of({before}), endings_of({after}));
  BOOST_REQUIRE(found.size() <= 1U);
  return found.empty()
             ? ""
             : found.front().before + " > " + found.front().after + ": " + found.front().reason;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(compare)

BOOST_AUTO_TEST_CASE(verdicts_differ) {
  BOOST_TEST(between(cell("a", Verdict::pass), cell("a", Verdict::pass)) == "");
  BOOST_TEST(between(cell("a", Verdict::pass), advised("a")) == "pass > advisory: r-pass");
  BOOST_TEST(between(cell("a", Verdict::fail), cell("a", Verdict::pass)) ==
             "fail (new) > pass: r-fail");
}

BOOST_AUTO_TEST_CASE(what_is_expected_differs_from_what_is_new) {
  BOOST_TEST(between(cell("a", Verdict::fail, GateResult::known),
                     cell("a", Verdict::fail, GateResult::known)) == "");
  BOOST_TEST(between(cell("a", Verdict::fail, GateResult::known), cell("a", Verdict::fail)) ==
             "fail (expected) > fail (new): r-fail");
}

BOOST_AUTO_TEST_CASE(a_cell_that_is_listed_to_vary_is_the_same_however_it_went) {
  BOOST_TEST(between(cell("a", Verdict::fail, GateResult::known, true),
                     cell("a", Verdict::pass, GateResult::as_expected, true)) == "");
  BOOST_TEST(between(cell("a", Verdict::pass, GateResult::as_expected, true),
                     cell("a", Verdict::fail)) == "known to vary > fail (new): r-fail");
}

BOOST_AUTO_TEST_CASE(only_the_attempt_that_counts_does) {
  const ListedCell old = cell("a", Verdict::pass, GateResult::superseded);
  BOOST_TEST(differences(endings_of({old, cell("a", Verdict::fail)}),
                         endings_of({cell("a", Verdict::fail)}))
                 .empty());
}

BOOST_AUTO_TEST_CASE(a_cell_of_one_run_alone) {
  const auto found =
      differences(endings_of({cell("b", Verdict::pass)}), endings_of({cell("a", Verdict::pass)}));
  BOOST_REQUIRE(found.size() == 2U);
  BOOST_TEST(found[0].cell == "a");
  BOOST_TEST(found[0].before == "not played");
  BOOST_TEST(found[1].after == "not played");
}

BOOST_AUTO_TEST_SUITE_END()
