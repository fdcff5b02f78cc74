// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// For tests of what rnic-suite refuses: one line, an exit status, and nothing half-written.
#pragma once

#include <boost/test/unit_test.hpp>

#include <string>

#include "suite/runner/tests/program.hpp"

namespace suite::runner::tests {

/// The exit status of a command line that is wrong.
inline constexpr int usage = 2;

inline Words rnic_suite(Words more) {
  more.insert(more.begin(), RNIC_SUITE);
  return more;
}

/// One line, from the program, with these words in it, and nothing on standard output.
inline void check_refusal(const Finished& finished, int status, const std::string& words) {
  BOOST_TEST(finished.status == status);
  BOOST_TEST(finished.out.empty(), finished.out);
  const Words lines = lines_of(finished.err);
  BOOST_TEST(lines.size() == 1u, finished.err);
  BOOST_TEST(finished.err.find(words) != std::string::npos, finished.err);
}

/// The same in an empty folder, which must be empty afterwards.
inline void refuse(const Words& words, int status, const std::string& says,
                   const Program::Setting& setting = {}) {
  BOOST_TEST_CONTEXT(words[0] + " " + (words.size() > 1 ? words[words.size() - 1] : "")) {
    const Scratch scratch;
    Program::Setting inside = setting;
    inside.folder = scratch.path;
    check_refusal(run(words, inside), status, says);
    BOOST_TEST(scratch.names() == Words(), boost::test_tools::per_element());
  }
}

}  // namespace suite::runner::tests
