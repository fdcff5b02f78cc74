// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What makes two runs differ.
#include <boost/test/unit_test.hpp>

#include "plugfest/compare.hpp"

using namespace plugfest;
using nlohmann::json;

namespace {

/// `gate`: as_expected, known, new_failure or superseded.
json cell(const std::string& id, const std::string& verdict, const std::string& gate = "",
          bool varies = false) {
  const char* usual = verdict == "fail" ? "new_failure" : "as_expected";
  return {{"id", id},
          {"verdict", verdict},
          {"reason", "r-" + verdict},
          {"gate", {{"result", gate.empty() ? usual : gate}, {"entry", ""}, {"reason", ""}}},
          {"varies", varies}};
}

json advised(const std::string& id) {
  json made = cell(id, "pass");
  made["advisory"] = true;
  return made;
}

json run(std::vector<json> cells) { return {{"plugfest", 2}, {"cells", std::move(cells)}}; }

/// The one difference of two runs of one cell, "BEFORE > AFTER: REASON"; empty: none.
std::string between(const json& before, const json& after) {
  const auto found = differences(run({before}), run({after}));
  BOOST_REQUIRE(found.size() <= 1U);
  return found.empty()
             ? ""
             : found.front().before + " > " + found.front().after + ": " + found.front().reason;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(compare)

BOOST_AUTO_TEST_CASE(verdicts_differ) {
  BOOST_TEST(between(cell("a", "pass"), cell("a", "pass")) == "");
  BOOST_TEST(between(cell("a", "pass"), advised("a")) == "pass > advisory: r-pass");
  BOOST_TEST(between(cell("a", "fail"), cell("a", "pass")) == "fail (new) > pass: r-fail");
}

BOOST_AUTO_TEST_CASE(what_is_expected_differs_from_what_is_new) {
  BOOST_TEST(between(cell("a", "fail", "known"), cell("a", "fail", "known")) == "");
  BOOST_TEST(between(cell("a", "fail", "known"), cell("a", "fail")) ==
             "fail (expected) > fail (new): r-fail");
}

BOOST_AUTO_TEST_CASE(a_cell_that_is_listed_to_vary_is_the_same_however_it_went) {
  BOOST_TEST(between(cell("a", "fail", "known", true), cell("a", "pass", "", true)) == "");
  BOOST_TEST(between(cell("a", "pass", "", true), cell("a", "fail")) ==
             "known to vary > fail (new): r-fail");
}

BOOST_AUTO_TEST_CASE(only_the_attempt_that_counts_does) {
  const json old = cell("a", "pass", "superseded");
  BOOST_TEST(differences(run({old, cell("a", "fail")}), run({cell("a", "fail")})).empty());
}

BOOST_AUTO_TEST_CASE(a_cell_of_one_run_alone) {
  const auto found = differences(run({cell("b", "pass")}), run({cell("a", "pass")}));
  BOOST_REQUIRE(found.size() == 2U);
  BOOST_TEST(found[0].cell == "a");
  BOOST_TEST(found[0].before == "not played");
  BOOST_TEST(found[1].after == "not played");
}

BOOST_AUTO_TEST_SUITE_END()
