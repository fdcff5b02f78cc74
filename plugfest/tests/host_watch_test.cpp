// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A host that is down is set aside, tried with one cell at a time, and comes back; one that stays
// away is given up.
#include "plugfest/host_watch.hpp"

#include <boost/test/unit_test.hpp>

using namespace plugfest;
using namespace std::chrono_literals;

namespace {

HostFacts facts(Side side) {
  HostFacts made;
  made.side = side;
  return made;
}

Cell between(std::size_t initiator, std::size_t responder) {
  Cell made;
  made.id = "a/b/x#1";
  made.initiator = initiator;
  made.responder = responder;
  return made;
}

struct WithHosts {
  WithHosts() { watch.ended(cell, met(), at(0s)); }
  static Outcome lost(Side side) {
    Outcome outcome;
    outcome.absent = side;
    if (side == Side::responder) outcome.hosts.push_back(facts(Side::initiator));
    return outcome;
  }
  static Outcome met() {
    Outcome outcome;
    outcome.hosts = {facts(Side::initiator), facts(Side::responder)};
    return outcome;
  }
  base::TimePoint at(base::Duration time) const { return start + time; }

  HostWatch watch{3, 10s};
  base::TimePoint start{std::chrono::hours(1)};
  Cell cell = between(0, 1);
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(host_watch, WithHosts)

BOOST_AUTO_TEST_CASE(one_failure_is_not_enough) {
  watch.ended(cell, lost(Side::responder), at(0s));
  watch.ended(cell, lost(Side::responder), at(1s));
  BOOST_TEST(!watch.aside(1, at(1s)));
  watch.ended(cell, met(), at(2s));
  watch.ended(cell, lost(Side::responder), at(3s));
  BOOST_TEST(!watch.aside(1, at(3s)));
}

BOOST_AUTO_TEST_CASE(it_is_set_aside_and_tried_again_at_growing_intervals) {
  for (int i = 0; i < HostWatch::failures_in_a_row; ++i)
    watch.ended(cell, lost(Side::responder), at(0s));
  BOOST_TEST(watch.aside(1, at(9s)));
  BOOST_TEST(!watch.aside(0, at(9s)));
  BOOST_TEST(!watch.aside(2, at(9s)));
  BOOST_TEST(!watch.aside(1, at(10s)));
  watch.ended(cell, lost(Side::responder), at(10s));
  BOOST_TEST(watch.aside(1, at(29s)));
  BOOST_TEST(!watch.aside(1, at(30s)));
  watch.ended(cell, met(), at(30s));
  BOOST_TEST(!watch.aside(1, at(30s)));
  watch.ended(cell, lost(Side::responder), at(31s));
  BOOST_TEST(!watch.aside(1, at(31s)));
}

BOOST_AUTO_TEST_CASE(one_that_has_answered_before_is_set_aside_too) {
  for (int i = 0; i < HostWatch::failures_in_a_row; ++i)
    watch.ended(between(0, 2), lost(Side::responder), at(0s));
  BOOST_TEST(!watch.aside(2, at(0s)));  // it never was there
  watch.meet(2);
  for (int i = 0; i < HostWatch::failures_in_a_row; ++i)
    watch.ended(between(0, 2), lost(Side::responder), at(0s));
  BOOST_TEST(watch.aside(2, at(0s)));
}

BOOST_AUTO_TEST_CASE(it_is_given_up_at_last) {
  auto now = at(0s);
  for (int i = 1; i < HostWatch::failures_in_a_row + HostWatch::most_trials - 1; ++i) {
    BOOST_TEST(!watch.given_up(0));
    watch.ended(cell, lost(Side::initiator), now);
    now += HostWatch::longest_pause;
    BOOST_TEST(!watch.aside(0, now));
  }
  watch.ended(cell, lost(Side::initiator), now);
  BOOST_TEST(watch.given_up(0));
  BOOST_TEST(!watch.aside(0, now));
}

BOOST_AUTO_TEST_CASE(a_host_that_never_answered_is_not_waited_for) {
  const Cell other = between(0, 2);
  for (int i = 0; i < 20; ++i) watch.ended(other, lost(Side::responder), at(0s));
  BOOST_TEST(!watch.aside(2, at(0s)));
  BOOST_TEST(!watch.given_up(2));
  BOOST_TEST(!watch.again(other, lost(Side::responder), 1));
}

BOOST_AUTO_TEST_CASE(a_cell_that_met_a_host_that_is_down_is_played_again) {
  BOOST_TEST(watch.again(cell, lost(Side::responder), 1));
  BOOST_TEST(watch.again(cell, lost(Side::initiator), 2));
  BOOST_TEST(!watch.again(cell, lost(Side::responder), HostWatch::most_attempts));
  BOOST_TEST(!watch.again(cell, met(), 1));
  BOOST_TEST(!watch.again(cell, error_outcome("the cell hung"), 1));
}

BOOST_AUTO_TEST_SUITE_END()
