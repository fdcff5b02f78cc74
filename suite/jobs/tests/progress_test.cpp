// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What is written during a run without a terminal.
#include <boost/test/unit_test.hpp>

#include "suite/jobs/progress.hpp"

using namespace suite::jobs;

namespace {

struct Log {
  std::FILE* file = std::tmpfile();
  ~Log() { std::fclose(file); }
  std::string text() const {
    std::string all(4096, '\0');
    std::rewind(file);
    all.resize(std::fread(all.data(), 1, all.size(), file));
    return all;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(progress)

BOOST_AUTO_TEST_CASE(a_line_says_how_many_are_left_and_how_long_they_take) {
  const Log log;
  Progress progress(log.file);
  progress.expect_more(2);
  progress.started("a");
  progress.ended({.id = "a", .verdict = "pass", .reason = "", .seconds = 3, .planned = 1}, 60);
  progress.ended({.id = "b", .verdict = "fail", .reason = "x\033[2J\ny", .seconds = 1}, 0);
  BOOST_TEST(log.text() ==
             "[1/2] pass           a (3.00 s, 3:00 left)\n"
             "[2/2] fail           b (1.00 s) - x [2J y\n");
}

BOOST_AUTO_TEST_CASE(what_an_agent_said_is_one_line_that_is_not_too_long) {
  BOOST_TEST(for_terminal("a\nb\x7f") == "a b ");
  BOOST_TEST(for_terminal("abcdef", 3) == "abc...");
}

BOOST_AUTO_TEST_CASE(clocks) {
  BOOST_TEST(clock_text(6.2) == "0:07");
  BOOST_TEST(clock_text(760) == "12:40");
  BOOST_TEST(clock_text(3723) == "1:02:03");
}

BOOST_AUTO_TEST_SUITE_END()
