// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the record of a cell keeps.
#include <boost/test/unit_test.hpp>

#include "base/record/json_writer.hpp"
#include "plugfest/condense.hpp"
#include "plugfest/record_tables.hpp"

using namespace plugfest;

namespace {

Check check(Side side, const std::string& what, const std::string& actual,
            const std::string& expected = "yes") {
  return {side, what, expected, actual, actual == expected};
}

Outcome long_outcome(Verdict verdict) {
  Outcome made;
  made.verdict = verdict;
  for (unsigned at = 0; at < 1000; ++at) {
    made.steps.push_back({at * 0.5, Side::initiator, "step " + std::to_string(at)});
    made.wire.push_back({at + 1, Side::responder, "message " + std::to_string(at)});
  }
  return made;
}

std::string text_of(const Outcome& outcome) {
  return base::record::one_line(base::record::to_json(outcome));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(condensing)

BOOST_AUTO_TEST_CASE(equal_checks_that_hold_are_counted_in_the_place_of_the_first) {
  Outcome outcome;
  for (int at = 0; at < 1000; ++at) {
    outcome.checks.push_back(check(Side::initiator, "up", "yes"));
    outcome.checks.push_back(check(Side::responder, "up", "yes"));
  }
  outcome.checks.push_back(check(Side::initiator, "down", "yes"));
  condense(outcome);
  BOOST_REQUIRE(outcome.checks.size() == 3U);
  BOOST_TEST(times(outcome.checks[0]) == 1000U);
  BOOST_TEST((outcome.checks[1].side == Side::responder));
  BOOST_TEST(times(outcome.checks[1]) == 1000U);
  BOOST_TEST(outcome.checks[2].what == "down");
  BOOST_TEST(!outcome.checks[2].times);
}

BOOST_AUTO_TEST_CASE(checks_that_differ_or_do_not_hold_are_all_kept) {
  Outcome outcome;
  outcome.verdict = Verdict::fail;
  outcome.checks = {check(Side::initiator, "up", "yes"), check(Side::initiator, "up", "no"),
                    check(Side::initiator, "up", "no"), check(Side::initiator, "up", "1", "1"),
                    check(Side::initiator, "up", "yes")};
  condense(outcome);
  BOOST_REQUIRE(outcome.checks.size() == 4U);
  BOOST_TEST(times(outcome.checks[0]) == 2U);
  BOOST_TEST(!outcome.checks[1].good);
  BOOST_TEST(!outcome.checks[2].good);
  BOOST_TEST(outcome.checks[3].expected == "1");
}

BOOST_AUTO_TEST_CASE(of_a_pass_the_beginning_and_the_end_are_kept_and_a_line_says_what_is_not) {
  Outcome outcome = long_outcome(Verdict::pass);
  condense(outcome);
  constexpr std::size_t half = most_lines_of_a_pass / 2;
  BOOST_REQUIRE(outcome.steps.size() == most_lines_of_a_pass + 1);
  BOOST_TEST(outcome.steps[half - 1].text == "step 19");
  BOOST_TEST(outcome.steps[half].text == "... 960 more steps");
  BOOST_TEST(outcome.steps[half].at == 10.0);
  BOOST_TEST(outcome.steps[half + 1].text == "step 980");
  BOOST_TEST(outcome.steps.back().text == "step 999");
  BOOST_REQUIRE(outcome.wire.size() == most_lines_of_a_pass + 1);
  BOOST_TEST(outcome.wire[half].text == "... 960 more messages, from this frame on");
  BOOST_TEST(outcome.wire[half].frame == 21U);
}

BOOST_AUTO_TEST_CASE(whatever_is_not_simply_a_pass_keeps_all_its_steps) {
  for (const Verdict verdict : {Verdict::fail, Verdict::inconclusive, Verdict::error}) {
    Outcome outcome = long_outcome(verdict);
    condense(outcome);
    BOOST_TEST(outcome.steps.size() == 1000U);
    BOOST_TEST(outcome.wire.size() == 1000U);
  }
  Outcome advised = long_outcome(Verdict::pass);
  advised.advisory = true;
  condense(advised);
  BOOST_TEST(advised.steps.size() == 1000U);
}

BOOST_AUTO_TEST_CASE(what_is_condensed_stays_as_it_is) {
  Outcome outcome = long_outcome(Verdict::pass);
  for (int at = 0; at < 5; ++at) outcome.checks.push_back(check(Side::initiator, "up", "yes"));
  condense(outcome);
  const std::string once = text_of(outcome);
  condense(outcome);
  BOOST_TEST(text_of(outcome) == once);
}

BOOST_AUTO_TEST_SUITE_END()
