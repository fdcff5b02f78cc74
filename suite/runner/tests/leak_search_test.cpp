// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/leak_search.hpp"

#include <boost/test/unit_test.hpp>

using namespace suite::runner;

namespace {

TestNetwork::Leaks result_of(const std::string& script) {
  base::EpollLoop loop;
  LeakSearch search;
  std::optional<TestNetwork::Leaks> found;
  search.start(loop, {"/bin/sh", "-c", script},
               [&](const TestNetwork::Leaks& result) { found = result; });
  loop.run_until(loop.now() + std::chrono::minutes(1), [&] { return found.has_value(); });
  BOOST_REQUIRE(found);
  return *found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(leak_search)

BOOST_AUTO_TEST_CASE(what_the_command_prints_is_what_was_found) {
  BOOST_TEST(result_of("true").value() == "");
  BOOST_TEST(result_of("echo kmemleak: unreferenced object; echo '  backtrace:'").value() ==
             "kmemleak: unreferenced object\n  backtrace:\n");
}

BOOST_AUTO_TEST_CASE(a_search_that_does_not_end_well_has_found_nothing_out) {
  BOOST_TEST(result_of("echo some; exit 1").error() == "the look for leaks ended: exit status 1");
  BOOST_TEST(!result_of("kill -9 $$").has_value());
}

BOOST_AUTO_TEST_CASE(a_run_may_end_during_a_search) {
  base::EpollLoop loop;
  LeakSearch search;
  search.start(loop, {"/bin/sh", "-c", "sleep 60"},
               [](const TestNetwork::Leaks&) { BOOST_ERROR("nobody waits for it"); });
}

BOOST_AUTO_TEST_SUITE_END()
