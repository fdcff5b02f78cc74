// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The way to hardware in short: both hosts are examined, and a run goes on when its agents die.
#include "suite/runner/tests/hardware.hpp"

#include <boost/test/unit_test.hpp>

using namespace suite::runner::tests;
using namespace suite::runner::tests::hardware;

BOOST_FIXTURE_TEST_SUITE(in_short, OnDut)

BOOST_AUTO_TEST_CASE(doctor_finds_nothing_wrong) {
  const Finished finished = run_there(with({suite_program, "doctor"}, iut_words()));
  BOOST_TEST(finished.status == 0, finished.out);
  BOOST_TEST(finished.out.find("\nfail") == std::string::npos, finished.out);
}

BOOST_AUTO_TEST_CASE(agents_killed) {
  Run run;
  run.select = {"--select", "ddp.tagged_validation.*"};
  const auto program = start(run.words());
  program->wait_for(first_passes);
  checked(dut().run("kill -9 $(pidof rnic-agent)"));
  check_whole(*program, run);
  check_nobody_left();
}

BOOST_AUTO_TEST_SUITE_END()
