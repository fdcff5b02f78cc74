// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lab/command.hpp"

#include <boost/test/unit_test.hpp>
#include <chrono>

using namespace suite::lab;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(command)

BOOST_AUTO_TEST_CASE(output_comes_back_and_stderr_goes_to_progress) {
  CommandOptions options;
  std::vector<std::string> lines;
  options.progress = [&](std::string_view line) { lines.emplace_back(line); };
  const auto said = run_command({"sh", "-c", "echo one; echo two >&2; echo three >&2"}, options);
  BOOST_REQUIRE(said.has_value());
  BOOST_TEST(*said == "one\n");
  BOOST_TEST(lines == (std::vector<std::string>{"two", "three"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_failure_names_the_command_its_status_and_its_last_words) {
  const auto failed = run_command({"sh", "-c", "echo because >&2; exit 3"});
  BOOST_REQUIRE(!failed.has_value());
  BOOST_TEST(failed.error() == "`sh -c echo because >&2; exit 3` failed (status 3): because");
  const auto killed = run_command({"sh", "-c", "kill -ABRT $$"});
  BOOST_REQUIRE(!killed.has_value());
  BOOST_TEST(killed.error().find("died by signal 6") != std::string::npos);
  const auto missing = run_command({"no-such-program-anywhere"});
  BOOST_REQUIRE(!missing.has_value());
  BOOST_TEST(missing.error().find("'no-such-program-anywhere' is missing") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_command_that_does_not_end_is_stopped) {
  CommandOptions options;
  options.time_limit = 50ms;
  const auto start = std::chrono::steady_clock::now();
  const auto stopped = run_command({"tail", "-f", "/dev/null"}, options);
  BOOST_REQUIRE(!stopped.has_value());
  BOOST_TEST(stopped.error().find("did not end within 50 ms") != std::string::npos);
  BOOST_TEST((std::chrono::steady_clock::now() - start < 10s));
}

BOOST_AUTO_TEST_CASE(more_output_than_a_pipe_holds) {
  const auto said = run_command({"head", "-c", "3000000", "/dev/zero"});
  BOOST_REQUIRE(said.has_value());
  BOOST_TEST(said->size() == 3'000'000u);
}

BOOST_AUTO_TEST_SUITE_END()
