// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Running a vendor's script.
#include "suite/upper_tester/script.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <csignal>

namespace suite::upper_tester {
namespace {

BOOST_AUTO_TEST_SUITE(script)

BOOST_AUTO_TEST_CASE(arguments_arrive_as_they_are) {
  const auto result = run_script("/usr/bin/printf", {"%s|", "crc=on", "$(id)", "a b"}, -1);
  BOOST_TEST(result.ran);
  BOOST_TEST(result.exit_status == 0);
  BOOST_TEST(result.text == "crc=on|$(id)|a b|");
}

BOOST_AUTO_TEST_CASE(exit_status_and_stderr_are_told) {
  const auto result = run_script("/bin/sh", {"-c", "echo no such module >&2; exit 2"}, -1);
  BOOST_TEST(result.exit_status == 2);
  BOOST_TEST(result.text == "no such module\n");
}

BOOST_AUTO_TEST_CASE(a_signal_is_told) {
  const auto result = run_script("/bin/sh", {"-c", "kill -TERM $$"}, -1);
  BOOST_TEST(result.exit_status == -1);
  BOOST_TEST(result.signal == SIGTERM);
}

BOOST_AUTO_TEST_CASE(only_the_end_of_much_output_is_kept) {
  const auto result = run_script("/usr/bin/seq", {"100000"}, -1);
  BOOST_TEST(result.text.size() <= 4096u);
  BOOST_TEST(result.text.substr(result.text.size() - 7) == "100000\n");
}

BOOST_AUTO_TEST_CASE(a_script_that_is_not_there_is_named) {
  const auto result = run_script("/nowhere/configure", {}, -1);
  BOOST_TEST(!result.ran);
  BOOST_TEST(result.text == "cannot run /nowhere/configure: No such file or directory");
}

BOOST_AUTO_TEST_CASE(a_client_that_hangs_up_ends_the_script_and_its_children) {
  std::array<int, 2> ends{};
  BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  ::close(ends[0]);
  const auto result = run_script("/bin/sh", {"-c", "cat /dev/zero >/dev/null & wait"}, ends[1]);
  BOOST_TEST(result.abandoned);
  BOOST_TEST(result.signal == SIGKILL);
  ::close(ends[1]);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace suite::upper_tester
