// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Programs that get less and less memory: each ends well or says in one line that there is none, and never by a signal.
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include "suite/runner/tests/refusal.hpp"

using namespace suite::runner::tests;

namespace {

constexpr int harness = 3;
// The program's loader found no memory; it says so itself.
constexpr int not_loaded = 127;

Finished run_with(unsigned kib, const Words& words, const std::string& folder) {
  Words command{"sh", "-c", fmt::format("ulimit -v {} && exec \"$@\"", kib), "sh"};
  command.insert(command.end(), words.begin(), words.end());
  return run(command, {.folder = folder});
}

// From what is enough down to what the loader does not bear, in small steps.
void lessen_memory(const Words& words) {
  const Scratch scratch;
  constexpr unsigned most = 150'000, step = 1'500;
  unsigned out_of_memory = 0;
  for (unsigned kib = most; kib > step; kib -= step) {
    const Finished done = run_with(kib, words, scratch.path);
    if (done.status == not_loaded) break;
    if (done.status == 0) continue;
    ++out_of_memory;
    BOOST_TEST_CONTEXT(words[0] << " with " << kib << " KiB") {
      BOOST_TEST(done.status == harness);
      BOOST_TEST(lines_of(done.err).size() == 1u, done.err);
      BOOST_TEST(done.err.find(": out of memory") != std::string::npos, done.err);
    }
  }
  BOOST_TEST(out_of_memory > 0u, words[0] << " is never without memory: this shows nothing");
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_program_without_memory_says_so_in_one_line) {
  lessen_memory(rnic_suite({"list"}));
  lessen_memory(rnic_suite({"explain", "mpa.crc.crc32c-as-in-iscsi"}));
}

// A run whose processes get too little ends with a verdict of its own or with that line; what it has judged is continued by the
// same command.
BOOST_AUTO_TEST_CASE(a_run_without_memory_is_continued_by_the_same_command) {
  const Scratch scratch;
  const Words words = rnic_suite({"run", "--link", "memory", "--select", "mpa.crc.*"});
  unsigned stopped = 0;
  for (unsigned kib = 30'000; kib < 120'000; kib += 6'000) {
    const Finished done = run_with(kib, words, scratch.path);
    if (done.status == not_loaded) continue;
    BOOST_TEST(done.status >= 0, "ended by a signal with " << kib << " KiB: " << done.err);
    stopped += done.status != 0 ? 1 : 0;
  }
  BOOST_TEST(stopped > 0u, "it always had enough: this shows nothing");
  BOOST_TEST(run(words, {.folder = scratch.path}).status == 0);
}
