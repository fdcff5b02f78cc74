// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Streams that cannot be written: nothing is thrown, nothing is raised, and it can be asked.
#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>

#include "base/standard_streams.hpp"

namespace {

// The result of `act` in a process of its own, with the standard output `out`.
int status_of(int out, const std::function<int()>& act) {
  const pid_t child = ::fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(out, STDOUT_FILENO);
    ::_exit(act());
  }
  int status = 0;
  BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int says_a_line() {
  base::keep_standard_streams();
  base::say(stdout, "{} lines\n", 1);
  const auto unwritten = base::unwritten_output();
  if (!unwritten) return 0;
  return unwritten->starts_with("cannot write all of standard output") ? 1 : 2;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_cannot_be_written_is_dropped_and_known) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  BOOST_TEST(status_of(full, says_a_line) == 1);
  std::array<int, 2> ends{};
  BOOST_REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  ::close(ends[0]);
  BOOST_TEST(status_of(ends[1], says_a_line) == 1);
  const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  BOOST_TEST(status_of(nothing, says_a_line) == 0);
}

BOOST_AUTO_TEST_CASE(no_file_gets_the_number_of_a_closed_stream) {
  const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  BOOST_TEST(status_of(nothing, [] {
               ::close(STDIN_FILENO);
               ::close(STDOUT_FILENO);
               ::close(STDERR_FILENO);
               base::keep_standard_streams();
               return ::open("/dev/null", O_RDONLY) > STDERR_FILENO ? 0 : 1;
             }) == 0);
}

BOOST_AUTO_TEST_CASE(a_pipe_that_nobody_empties_takes_no_line) {
  std::array<int, 2> ends{};
  BOOST_REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
  std::FILE* stream = ::fdopen(ends[1], "w");
  BOOST_TEST(base::takes_a_line(stream));
  const std::array<char, 4096> much{};
  while (::write(ends[1], much.data(), much.size()) > 0) {
  }
  BOOST_TEST(!base::takes_a_line(stream));
  ::close(ends[0]);
  BOOST_TEST(base::takes_a_line(stream));  // the write meets the error
  std::fclose(stream);
}
