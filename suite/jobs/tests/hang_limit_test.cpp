// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// When a worker counts as hung.
#include <boost/test/unit_test.hpp>

#include "suite/jobs/hang_limit.hpp"

using namespace suite::jobs;
using namespace std::chrono_literals;

namespace {

struct Fixture {
  base::EpollLoop loop;
  base::TimePoint start = loop.now();
  int calls = 0;
  HangLimit limit{loop, [this] { ++calls; }};

  // Runs the event loop to that point after the start.
  void run_to(std::chrono::milliseconds point) {
    loop.run_until(start + point, [] { return false; });
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(hang_limit, Fixture)

BOOST_AUTO_TEST_CASE(silence_is_noticed_once) {
  limit.set(20ms, 10s);
  loop.run_until(start + 10s, [this] { return calls > 0; });
  BOOST_TEST((loop.now() - start >= 20ms));
  limit.alive();  // too late
  run_to(100ms);
  BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(signs_of_life_count_up_to_the_latest_end) {
  limit.set(1h, 60ms);
  for (const auto at : {10ms, 30ms, 50ms}) {
    run_to(at);
    limit.alive();
  }
  BOOST_TEST(calls == 0);
  loop.run_until(start + 10s, [this] { return calls > 0; });
  BOOST_TEST((loop.now() - start >= 60ms));
}

BOOST_AUTO_TEST_CASE(a_limit_that_is_lifted_passes_no_more) {
  limit.set(10ms, 10ms);
  limit.lift();
  run_to(40ms);
  BOOST_TEST(calls == 0);
}

BOOST_AUTO_TEST_SUITE_END()
