// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A case as a job: its limits, and the verdict where its worker did not survive it.
#include <boost/test/unit_test.hpp>

#include "suite/runner/case_messages.hpp"

using namespace suite::runner;
using namespace std::chrono_literals;
using suite::cases::Verdict;
using suite::jobs::WorkerDeath;

BOOST_AUTO_TEST_CASE(a_case_may_be_silent_for_its_deadline_twice_and_more) {
  suite::cases::Case one;
  one.deadline = 5s;
  BOOST_TEST((tolerated_silence(one, 1) > 10s));
  BOOST_TEST((tolerated_silence(one, 3) - tolerated_silence(one, 1) == 20s));
}

BOOST_AUTO_TEST_CASE(a_death_in_the_code_of_the_iut_fails_the_case) {
  WorkerDeath death{.cause = WorkerDeath::Cause::hung, .how = {}, .in_iut = true, .after = 1500ms};
  BOOST_TEST(outcome_of(death).reason == "no verdict within 1.5 s: the IUT's code did not return");
  for (const auto cause : {WorkerDeath::Cause::hung, WorkerDeath::Cause::ended}) {
    death.cause = cause;
    death.in_iut = true;
    BOOST_TEST((outcome_of(death).verdict == Verdict::fail));
    death.in_iut = false;
    BOOST_TEST((outcome_of(death).verdict == Verdict::error));
  }
  BOOST_TEST((outcome_of(death).duration == 1500ms));
}
