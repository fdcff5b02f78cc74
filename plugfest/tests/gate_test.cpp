// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Records held against what the organiser has listed.
#include <boost/test/unit_test.hpp>

#include "plugfest/gate.hpp"

using namespace plugfest;

namespace {

CellOutline record(const std::string& verdict, const std::string& reason = "") {
  CellOutline made;
  made.id = "a/b/x#1";
  made.verdict = base::record::find<Verdict>(verdict).value();
  made.reason = reason;
  return made;
}

Event expecting(const Expectation& one) {
  Event event;
  event.expectations = {{.cells = "b/a/*", .verdict = Verdict::fail, .reason = "of others"}, one};
  return event;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gate)

BOOST_AUTO_TEST_CASE(one_of_several_things_is_seen) {
  const Event event = expecting({.cells = "a/b/*",
                                 .verdict = Verdict::fail,
                                 .reason = "r",
                                 .observed = {"*pad*", "no answer"}});
  BOOST_TEST(expectation_for(event, record("fail", "a pad of 7")) != nullptr);
  BOOST_TEST(expectation_for(event, record("fail", "no answer")) != nullptr);
  BOOST_TEST(expectation_for(event, record("fail", "no answer at all")) == nullptr);
  BOOST_TEST(expectation_for(event, record("error", "no answer")) == nullptr);
}

BOOST_AUTO_TEST_CASE(what_may_go_either_way_varies_and_what_is_new_does_not) {
  const Event race = expecting({.cells = "a/b/*",
                                .verdict = Verdict::fail,
                                .reason = "r",
                                .observed = {"known"},
                                .intermittent = true});
  BOOST_TEST(is_known_to_vary(race, record("pass")));
  BOOST_TEST(is_known_to_vary(race, record("fail", "known")));
  BOOST_TEST(!is_known_to_vary(race, record("fail", "another")));
  BOOST_TEST(!is_known_to_vary(race, record("not_applicable")));
  const Event always = expecting({.cells = "a/b/*", .verdict = Verdict::fail, .reason = "r"});
  BOOST_TEST(!is_known_to_vary(always, record("pass")));
  BOOST_TEST(!is_known_to_vary(always, record("fail")));
}

BOOST_AUTO_TEST_CASE(the_gate_knows_what_is_listed) {
  const auto text = [](const Event& event, const CellOutline& cell) {
    const suite::results::Gate gate = judge(event, cell);
    return name(gate.result) + (" [" + gate.entry) + "] " + gate.reason;
  };
  Expectation one{.cells = "a/b/*", .verdict = Verdict::fail, .reason = "r", .line = 7};
  BOOST_TEST(text(expecting(one), record("fail")) == "known [line 7] r");
  BOOST_TEST(text(expecting(one), record("error")) ==
             "new_failure [] error, and no expectation says so");
  BOOST_TEST(text(expecting(one), record("pass")) == "as_expected [] ");
  BOOST_TEST(text(expecting(one), record("not_applicable")) == "as_expected [] ");
  one.intermittent = true;
  BOOST_TEST(text(expecting(one), record("pass")) == "as_expected [line 7] fail now and then: r");
}

BOOST_AUTO_TEST_CASE(a_race_gets_tries_until_it_shows) {
  const Event race = expecting({.cells = "a/b/*",
                                .verdict = Verdict::fail,
                                .reason = "r",
                                .intermittent = true,
                                .tries = 5});
  BOOST_TEST(tries_for(race, record("pass")) == 5);
  BOOST_TEST(tries_for(race, record("fail")) == 1);
  BOOST_TEST(tries_for(race, record("not_applicable")) == 1);
  BOOST_TEST(tries_for(race, record("error")) == 1);
  BOOST_TEST(tries_for(expecting({.cells = "a/b/*", .verdict = Verdict::fail, .reason = "r"}),
                       record("pass")) == 1);
}

BOOST_AUTO_TEST_CASE(what_hides_the_verdict_is_played_again) {
  const Event rare = expecting({.cells = "a/b/*",
                                .verdict = Verdict::fail,
                                .reason = "r",
                                .observed = {"lost"},
                                .again = 3});
  BOOST_TEST(tries_for(rare, record("fail", "lost")) == 3);
  BOOST_TEST(tries_for(rare, record("fail", "another")) == 1);
  BOOST_TEST(tries_for(rare, record("pass")) == 1);
  BOOST_TEST(!is_known_to_vary(rare, record("pass")));
  BOOST_TEST(!is_known_to_vary(rare, record("fail", "lost")));
}

BOOST_AUTO_TEST_SUITE_END()
