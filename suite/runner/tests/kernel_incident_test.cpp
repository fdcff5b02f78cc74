// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Complaints of the IUT's kernel while several cases ran.
#include <boost/test/unit_test.hpp>

#include "suite/runner/kernel_incident.hpp"

using namespace suite::runner;
using suite::results::CaseRecord;
using suite::results::Verdict;

namespace {

CaseRecord record(const std::string& id, Verdict verdict) {
  CaseRecord made;
  made.id = id;
  made.outcome.verdict = verdict;
  return made;
}

bool nothing_is_known(const std::string& /*excerpt*/) { return false; }

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_not_reproduced_makes_all_of_them_errors) {
  Incidents incidents;
  incidents.open("BUG: x", {1, 2});
  BOOST_TEST(incidents.suspected(1).value() == "BUG: x");
  BOOST_TEST(!incidents.suspected(3).has_value());
  incidents.will_repeat(1);
  incidents.will_repeat(2);
  BOOST_TEST(!incidents.suspected(1).has_value());
  BOOST_TEST(incidents.settle(1, record("a", Verdict::pass), false, nothing_is_known).empty());
  const auto settled = incidents.settle(2, record("b", Verdict::fail), false, nothing_is_known);
  BOOST_REQUIRE(settled.size() == 2U);
  for (const CaseRecord& one : settled) {
    BOOST_TEST((one.outcome.verdict == Verdict::error));
    BOOST_TEST(one.kernel_log == "BUG: x");
  }
  BOOST_TEST(!incidents.repeating(1));
}

BOOST_AUTO_TEST_CASE(where_one_reproduces_it_the_others_keep_their_verdicts) {
  Incidents incidents;
  incidents.open("BUG: x", {1, 2, 3});
  for (const std::size_t one : {1, 2, 3}) incidents.will_repeat(one);
  BOOST_TEST(incidents.settle(1, record("a", Verdict::pass), false, nothing_is_known).empty());
  BOOST_TEST(incidents.settle(2, record("b", Verdict::fail), true, nothing_is_known).empty());
  const auto settled =
      incidents.settle(3, record("c", Verdict::inconclusive), false, nothing_is_known);
  BOOST_REQUIRE(settled.size() == 3U);
  BOOST_TEST((settled[0].outcome.verdict == Verdict::pass));
  BOOST_TEST((settled[1].outcome.verdict == Verdict::fail));
  BOOST_TEST((settled[2].outcome.verdict == Verdict::inconclusive));
}

BOOST_AUTO_TEST_CASE(a_case_belongs_to_one_incident_at_a_time) {
  Incidents incidents;
  incidents.open("first", {1, 2});
  incidents.open("second", {2, 3});
  BOOST_TEST(incidents.suspected(2).value() == "first");
  for (const std::size_t one : {1, 2, 3}) incidents.will_repeat(one);
  BOOST_TEST(incidents.settle(3, record("c", Verdict::pass), false, nothing_is_known).size() == 1U);
  BOOST_TEST(incidents.settle(1, record("a", Verdict::pass), true, nothing_is_known).empty());
  BOOST_TEST(incidents.settle(2, record("b", Verdict::pass), false, nothing_is_known).size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_known_complaint_leaves_the_verdicts_that_came_alone) {
  Incidents incidents;
  incidents.open("BUG: x", {1, 2});
  incidents.will_repeat(1);
  incidents.will_repeat(2);
  const auto known = [](const std::string& excerpt) { return excerpt == "BUG: x"; };
  BOOST_TEST(incidents.settle(1, record("a", Verdict::pass), false, known).empty());
  const auto settled = incidents.settle(2, record("b", Verdict::fail), false, known);
  BOOST_REQUIRE(settled.size() == 2U);
  BOOST_TEST((settled[0].outcome.verdict == Verdict::pass));
  BOOST_TEST((settled[1].outcome.verdict == Verdict::fail));
  BOOST_TEST(settled[0].kernel_log == "BUG: x");
}
