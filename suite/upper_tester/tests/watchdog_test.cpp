// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An agent that hangs ends after its client has gone; one that works continues.
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>

#include "suite/upper_tester/watchdog.hpp"

using namespace std::chrono_literals;
using suite::upper_tester::Watchdog;

namespace {

// The exit status of a process that has a watchdog and whose input has ended.
int status_of(const std::function<void(std::atomic<unsigned>&)>& work) {
  std::array<int, 2> input{};
  BOOST_REQUIRE(::pipe(input.data()) == 0);
  const pid_t child = ::fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    ::close(input[1]);
    std::atomic<unsigned> turns = 0;
    {
      const Watchdog watchdog(input[0], turns, 50ms);
      work(turns);
    }
    ::_exit(0);
  }
  ::close(input[0]);
  ::close(input[1]);
  int status = 0;
  BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

BOOST_AUTO_TEST_CASE(who_hangs_is_ended) {
  BOOST_TEST(status_of([](std::atomic<unsigned>&) { ::pause(); }) == Watchdog::hung);
}

BOOST_AUTO_TEST_CASE(who_works_goes_on) {
  const auto work = [](std::atomic<unsigned>& turns) {
    const auto end = std::chrono::steady_clock::now() + 300ms;
    while (std::chrono::steady_clock::now() < end) ++turns;
  };
  BOOST_TEST(status_of(work) == 0);
}

BOOST_AUTO_TEST_CASE(who_ends_at_once_is_not_held_up) {
  BOOST_TEST(status_of([](std::atomic<unsigned>&) {}) == 0);
}
