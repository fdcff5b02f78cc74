// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A run that is interrupted or killed: what was judged is kept, the reports are made, no process
// remains; and what a terminal shows during the run.
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <set>

#include <nlohmann/json.hpp>

#include "suite/runner/tests/program.hpp"

using namespace suite::runner::tests;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr int harness = 3;
const std::string suite_program = RNIC_SUITE, toy = RNIC_TOY;

struct OrphansAreSeen {
  OrphansAreSeen() { adopt_orphans(); }
};

Json results_in(const fs::path& folder) { return Json::parse(text_of(folder / "results.json")); }

std::set<std::string> ids_of(const Json& results) {
  std::set<std::string> ids;
  for (const Json& one : results.at("cases")) ids.insert(one.at("id"));
  return ids;
}

// The ids in the lines that a run wrote as each case was judged: `VERDICT ID (TIME)`.
std::set<std::string> ids_told(const std::string& text) {
  std::set<std::string> ids;
  for (const std::string& line : lines_of(text)) {
    const auto end = line.find(" (");
    if (end == std::string::npos || line.starts_with("rnic-suite:")) continue;
    const auto begin = line.rfind(' ', end - 1);
    if (begin != std::string::npos) ids.insert(line.substr(begin + 1, end - begin - 1));
  }
  return ids;
}

// All that must hold after a run was interrupted in the middle.
void check_interrupted(const Finished& finished, const fs::path& out, const std::string& signal) {
  BOOST_TEST(finished.status == harness);
  BOOST_TEST(lines_of(finished.err).back() == "rnic-suite: interrupted by " + signal);
  const Json results = results_in(out);
  const Json& run = results.at("run");
  BOOST_TEST(run.at("complete") == false);
  BOOST_TEST(run.at("ending") == "interrupted");
  BOOST_TEST(run.at("ending_reason") == "interrupted by " + signal);
  BOOST_TEST(run.at("exit_code") == harness);
  BOOST_TEST(!results.at("cases").empty());
  BOOST_TEST((ids_of(results) == ids_told(finished.err)));
  const std::string junit = text_of(out / "junit.xml");
  for (const std::string& id : ids_of(results))
    BOOST_TEST(junit.find(id.substr(id.rfind('.') + 1)) != std::string::npos, id);
  BOOST_TEST(fs::exists(out / "report.html"));
  BOOST_TEST(fs::exists(out / "summary.md"));
  for (const auto& entry : fs::recursive_directory_iterator(out))
    BOOST_TEST(entry.path().extension() != ".new", entry.path().string());
  BOOST_TEST(nobody_left());
}

Words network_namespaces() {
  Words list;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/run/netns", none)) list.push_back(entry.path());
  return list;
}

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(OrphansAreSeen);

BOOST_AUTO_TEST_CASE(an_interrupted_run_keeps_what_it_judged) {
  for (const auto& [number, name] : {std::pair{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}}) {
    BOOST_TEST_CONTEXT(name) {
      const Scratch scratch;
      // A failure does not hide that the run was interrupted: 3 counts before 1.
      Program program({toy, "--select", "toy.verdict.*", "--select", "toy.slow.waits", "--out",
                       scratch / "out"});
      for (const char* id : {"verdict.pass ", "verdict.pass_too ", "verdict.fail "})
        program.wait_for(std::string("toy.") + id);
      program.signal(number);
      const Finished finished = program.finish();
      check_interrupted(finished, scratch / "out", name);
      const auto ids = ids_of(results_in(scratch / "out"));
      BOOST_TEST(ids.contains("toy.verdict.fail"));
      BOOST_TEST(!ids.contains("toy.slow.waits"));
    }
  }
}

// As a terminal does it: the signal reaches workers and agents as well.
BOOST_AUTO_TEST_CASE(ctrl_c_in_a_run_with_agents) {
  const Scratch scratch;
  const Words before = network_namespaces();
  for (const bool whole_group : {true, false}) {
    const std::string out = scratch / (whole_group ? "group" : "one");
    Program program({suite_program, "--iut", "agent:reference", "--select", "*", "--out", out});
    program.wait_for("pass           ddp.");
    whole_group ? program.signal_group(SIGINT) : program.signal(SIGINT);
    check_interrupted(program.finish(), out, "SIGINT");
  }
  BOOST_TEST(network_namespaces() == before, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_second_ctrl_c_changes_nothing) {
  const Scratch scratch;
  Program program({toy, "--select", "toy.verdict.pass", "--select", "toy.slow.waits", "--out",
                   scratch / "out"});
  program.wait_for("toy.verdict.pass ");
  program.signal_group(SIGINT);
  program.signal_group(SIGINT);
  check_interrupted(program.finish(), scratch / "out", "SIGINT");
}

BOOST_AUTO_TEST_CASE(interrupted_before_the_iut_says_hello_nothing_is_written) {
  const Scratch scratch;
  write_script(scratch / "agent", ": >" + (scratch / "started") + "\nexec sleep 1000\n");
  Program program({suite_program, "--iut", "agent:" + (scratch / "agent"), "--address", "127.0.0.1",
                   "--out", scratch / "out"});
  program.wait_for_file(scratch / "started");
  program.signal(SIGINT);
  const Finished finished = program.finish();
  BOOST_TEST(finished.status == harness);
  BOOST_TEST(finished.err == "rnic-suite: interrupted by SIGINT\n");
  BOOST_TEST(finished.out.empty());
  BOOST_TEST(!fs::exists(scratch / "out"));
  BOOST_TEST(nobody_left());
}

// What an agent starts and forgets is ended too.
BOOST_AUTO_TEST_CASE(children_of_an_agent_do_not_stay) {
  const Scratch scratch;
  write_script(scratch / "agent", "sleep 1000 &\nsleep 1000 & exit 5\n");
  const Finished finished = run({suite_program, "--iut", "agent:" + (scratch / "agent"),
                                 "--address", "127.0.0.1", "--out", scratch / "out"});
  BOOST_TEST(finished.status == harness);
  BOOST_TEST(nobody_left());
}

BOOST_AUTO_TEST_CASE(a_killed_run_can_be_collected) {
  const Scratch scratch;
  Program program(
      {toy, "--select", "toy.verdict.*", "--select", "toy.slow.waits", "--out", scratch / "out"});
  program.wait_for("toy.verdict.pass ");
  program.signal(SIGKILL);
  const Finished finished = program.finish();
  BOOST_TEST(finished.status == -SIGKILL);
  BOOST_TEST(everybody_leaves());
  BOOST_TEST(!fs::exists(scratch / "out/results.json"));
  const Finished collected = run({toy, "collect", scratch / "out"});
  BOOST_TEST(collected.status == harness);
  BOOST_TEST(collected.out.find("--select toy.slow.waits --out " + (scratch / "out") +
                                "` continues it") != std::string::npos,
             collected.out);
  const Json results = results_in(scratch / "out");
  BOOST_TEST(results["run"]["complete"] == false);
  BOOST_TEST(results["run"]["ending"] == "killed");
  for (const std::string& id : ids_told(finished.err)) BOOST_TEST(ids_of(results).contains(id), id);
  BOOST_TEST(text_of(scratch / "out/junit.xml").find("toy.verdict") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_run_to_its_end_leaves_nobody_either) {
  const Scratch scratch;
  const Finished finished = run({suite_program, "--iut", "agent:reference", "--select",
                                 "ddp.delivery.*", "--out", scratch / "out"});
  BOOST_TEST(finished.status == 0);
  BOOST_TEST(results_in(scratch / "out")["run"]["complete"] == true);
  BOOST_TEST(nobody_left());
}

BOOST_AUTO_TEST_CASE(progress_is_for_terminals_and_so_is_colour) {
  const Scratch scratch;
  const Words words{
      toy,      "--select", "toy.verdict.pass", "--select", "toy.verdict.fail", "--link",
      "memory", "--out",    scratch / "out"};
  const std::string red = "\x1b[31m", erase = "\r\x1b[K";
  const Finished on_terminal = run(words, {.environment = {{"TERM", "xterm"}}, .terminal = true});
  BOOST_TEST(on_terminal.status == 1);
  BOOST_TEST(on_terminal.err.find("/4") != std::string::npos, on_terminal.err);
  BOOST_TEST(on_terminal.err.find(erase) != std::string::npos);
  BOOST_TEST(on_terminal.err.find(red) != std::string::npos);
  BOOST_TEST(on_terminal.err.find("\x1b[2J") == std::string::npos);  // output of the IUT is text
  const Finished plain = run(words, {.environment = {{"NO_COLOR", "1"}}, .terminal = true});
  BOOST_TEST(plain.err.find(red) == std::string::npos);
  BOOST_TEST(plain.err.find(erase) != std::string::npos);
  const Finished piped = run(words);
  BOOST_TEST(piped.err.find('\x1b') == std::string::npos);
  BOOST_TEST(piped.out.find('\x1b') == std::string::npos);
  BOOST_TEST((ids_told(piped.err) == ids_of(results_in(scratch / "out"))));
}

// The progress line is removed first: the shell's prompt is on a line of its own.
BOOST_AUTO_TEST_CASE(ctrl_c_on_a_terminal_leaves_it_clean) {
  const Scratch scratch;
  Program program(
      {toy, "--select", "toy.verdict.fail", "--select", "toy.slow.waits", "--out", scratch / "out"},
      {.terminal = true});
  program.wait_for("toy.verdict.fail (");
  program.signal_group(SIGINT);
  const Finished finished = program.finish();
  BOOST_TEST(finished.status == harness);
  BOOST_TEST(finished.err.ends_with("rnic-suite: interrupted by SIGINT\r\n"), finished.err);
  BOOST_TEST(nobody_left());
}
