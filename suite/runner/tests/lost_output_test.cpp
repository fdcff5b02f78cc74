// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Output that cannot be written ends no run: a full disk, a reader that goes away or sleeps, a
// terminal that is closed. A command that only prints reports that it could not.
#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <sstream>

#include <nlohmann/json.hpp>

#include "suite/runner/tests/program.hpp"

using namespace suite::runner::tests;
namespace fs = std::filesystem;
using Json = nlohmann::json;
using base::FileDescriptor;

namespace {

constexpr int failure = 1, harness = 3;
const std::string suite_program = RNIC_SUITE, toy = RNIC_TOY, self_test = RNIC_SELF_TEST;

struct OrphansAreSeen {
  OrphansAreSeen() { adopt_orphans(); }
};

FileDescriptor full() { return opened("/dev/full", O_WRONLY); }

// All that must hold after a run whose output was lost.
void check_whole(int status, int expected, const fs::path& out) {
  BOOST_TEST(status == expected);
  const Json results = Json::parse(text_of(out / "results.json"));
  BOOST_TEST(results["run"]["complete"] == true);
  BOOST_TEST(results["run"]["ending"] == "finished");
  BOOST_TEST(results["run"]["exit_code"] == expected);
  BOOST_TEST(results["summary"]["cases"] >= results["run"]["selected"]);
  for (const char* report : {"report.html", "summary.md", "junit.xml"})
    BOOST_TEST(fs::exists(out / report), report);
  BOOST_TEST(nobody_left());
}

Words some_verdicts(const fs::path& out) {
  return {toy, "--select", "toy.verdict.pass", "--select", "toy.verdict.fail", "--out", out};
}
// Long enough to lose its output in the middle, with agents that could be lost with it.
Words with_agents(const fs::path& out) {
  return {suite_program, "--iut", "agent:reference", "--select", "ddp.*", "--out", out};
}

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(OrphansAreSeen);

BOOST_AUTO_TEST_CASE(a_full_disk_under_the_log) {
  const Scratch scratch;
  const FileDescriptor nowhere = full();
  const Finished quiet = run(some_verdicts(scratch / "err"), {.err_to = nowhere.get()});
  check_whole(quiet.status, failure, scratch / "err");
  BOOST_TEST(quiet.out.find("report: ") != std::string::npos);
  const Finished mute = run(some_verdicts(scratch / "out"), {.out_to = nowhere.get()});
  check_whole(mute.status, failure, scratch / "out");
  const Finished both =
      run(some_verdicts(scratch / "both"), {.out_to = nowhere.get(), .err_to = nowhere.get()});
  check_whole(both.status, failure, scratch / "both");
}

// The first file that is opened would else be standard output, and be written into.
BOOST_AUTO_TEST_CASE(streams_that_are_closed) {
  const Scratch scratch;
  Words words = some_verdicts(scratch / "out");
  words.insert(words.begin(), {"sh", "-c", "exec \"$@\" <&- >&- 2>&-", "sh"});
  check_whole(run(words).status, failure, scratch / "out");
  std::istringstream journal(text_of(scratch / "out/results.ndjson"));
  for (std::string line; std::getline(journal, line);) BOOST_TEST(Json::accept(line), line);
}

BOOST_AUTO_TEST_CASE(a_reader_that_goes_away) {
  const Scratch scratch;
  Program program(with_agents(scratch / "out"));
  program.wait_for("pass           ddp.");
  program.stop_reading();
  check_whole(program.finish().status, 0, scratch / "out");
}

// As if ssh is lost or a tmux session is killed: SIGHUP for all processes, and EIO for those that
// write.
BOOST_AUTO_TEST_CASE(a_terminal_that_is_closed) {
  const Scratch scratch;
  Program program(with_agents(scratch / "out"), {.terminal = true});
  program.wait_for("ddp.");
  program.stop_reading();
  check_whole(program.finish().status, 0, scratch / "out");
}

BOOST_AUTO_TEST_CASE(a_hangup_goes_by) {
  const Scratch scratch;
  Program program(with_agents(scratch / "out"));
  program.wait_for("pass           ddp.");
  program.signal_group(SIGHUP);
  check_whole(program.finish().status, 0, scratch / "out");
}

// Ctrl-S, or a pager that waits for its user.
BOOST_AUTO_TEST_CASE(a_reader_that_sleeps_does_not_hold_the_run_up) {
  const Scratch scratch;
  std::array<int, 2> ends{};
  BOOST_REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
  const FileDescriptor reading(ends[0]), writing(ends[1]);
  const std::array<char, 4096> much{};
  while (::write(writing.get(), much.data(), much.size()) > 0) {
  }
  ::fcntl(writing.get(), F_SETFL, 0);  // blocking, as a terminal is
  Words words = some_verdicts(scratch / "out");
  words.insert(words.begin(), {"env", "PYTHONVERBOSE=1"});  // the report has something to say, too
  const Finished finished = run(words, {.err_to = writing.get()});
  check_whole(finished.status, failure, scratch / "out");
}

BOOST_AUTO_TEST_CASE(what_only_prints_says_that_it_could_not) {
  const FileDescriptor nowhere = full();
  for (const Words& words : {Words{suite_program, "list"}, Words{suite_program, "--help"},
                             Words{suite_program, "coverage"},
                             Words{suite_program, "explain", "mpa.startup.request-key"}}) {
    const Finished finished = run(words, {.out_to = nowhere.get()});
    BOOST_TEST(finished.status == harness);
    BOOST_TEST(finished.err.starts_with("rnic-suite: cannot write all of standard output"),
               finished.err);
    BOOST_TEST(lines_of(finished.err).size() == 1u);
  }
}

BOOST_AUTO_TEST_CASE(the_self_test_goes_on_too) {
  const Scratch scratch;
  const FileDescriptor nowhere = full();
  const Finished finished =
      run({self_test, "--deviation", "request_key_wrong", "--out", scratch / "matrix.json"},
          {.out_to = nowhere.get(), .err_to = nowhere.get()});
  BOOST_TEST(finished.status == 0);
  BOOST_TEST(Json::accept(text_of(scratch / "matrix.json")));
}
