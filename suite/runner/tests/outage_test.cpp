// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An IUT on a host of its own that goes away in the middle of a run: a script in place of ssh
// reaches its agents, and is killed, frozen, refused, and comes back.
#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "suite/runner/tests/program.hpp"

using namespace suite::runner::tests;
namespace fs = std::filesystem;
using Json = nlohmann::json;
using std::chrono::steady_clock;

namespace {

constexpr int failure = 1, harness = 3;
const std::string suite_program = RNIC_SUITE, agent = RNIC_AGENT;

struct OrphansAreSeen {
  OrphansAreSeen() { adopt_orphans(); }
};

// A host that is reached by a script. While the file `down` exists it refuses; while `frozen`
// exists, what it starts writes nothing.
struct ToyDut {
  explicit ToyDut(const std::string& pixit = "") {
    write_script(scratch / "ssh", "test -e \"" + (scratch / "down") +
                                      "\" && { echo 'ssh: connect to host dut: refused' >&2; exit "
                                      "255; }\necho $$ >>\"" +
                                      (scratch / "pids") + "\"\ntest -e \"" + (scratch / "frozen") +
                                      "\" && kill -STOP $$\nexec " + agent +
                                      " --driver reference --address 127.0.0.1\n");
    write(scratch / "pixit.yaml", "pixit: 1\n" + pixit);
  }
  // Those of ddp.llp need a link with smaller buffers than loopback has.
  [[nodiscard]] Words words() const {
    return {suite_program, "run",       "--iut",   "agent:" + (scratch / "ssh"),
            "--address",   "127.0.0.1", "--pixit", scratch / "pixit.yaml",
            "--select",    "ddp.[!l]*", "--out",   scratch / "out"};
  }
  void set(const std::string& state) const { write(scratch / state, ""); }
  void clear(const std::string& state) const { fs::remove(scratch / state); }
  void signal_all(int number) const {
    std::istringstream pids(text_of(scratch / "pids"));
    for (pid_t pid = 0; pids >> pid;) ::kill(pid, number);
  }
  [[nodiscard]] Json results() const {
    return Json::parse(text_of(fs::path(scratch / "out") / "results.json"));
  }
  // A complete run, of which the outage left no trace in any verdict.
  void check_whole() const {
    const Json all = results();
    BOOST_TEST(all["run"]["complete"] == true);
    for (const Json& one : all["cases"])
      BOOST_TEST((one["verdict"] == "pass" || one["verdict"] == "not_applicable"),
                 one["id"] << ": " << one["reason"]);
    BOOST_TEST(all["summary"]["cases"] >= all["run"]["selected"]);
  }
  Scratch scratch;
};

constexpr const char* first_passes = "pass           ddp.";

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(OrphansAreSeen);

BOOST_AUTO_TEST_CASE(a_host_that_comes_back) {
  const ToyDut dut;
  Program program(dut.words());
  program.wait_for(first_passes);
  dut.set("down");
  dut.signal_all(SIGKILL);
  program.wait_for("the IUT has not answered since ");
  dut.clear("down");
  program.wait_for("the IUT answers again");
  const Finished finished = program.finish();
  BOOST_TEST(finished.status == 0, finished.err);
  BOOST_TEST(finished.err.find("waiting 60 s") != std::string::npos);
  dut.check_whole();
  BOOST_TEST(nobody_left());
}

BOOST_AUTO_TEST_CASE(a_host_that_stays_away_ends_the_run_and_the_same_command_goes_on) {
  const ToyDut dut("outage_wait_ms: 2000\n");
  Program program(dut.words());
  program.wait_for(first_passes);
  dut.set("down");
  dut.signal_all(SIGKILL);
  const auto begin = steady_clock::now();
  const Finished finished = program.finish();
  const auto took = steady_clock::now() - begin;
  BOOST_TEST(finished.status == harness);
  BOOST_TEST((took < std::chrono::seconds(60)));
  const std::string last = lines_of(finished.err).back();
  BOOST_TEST(last.starts_with("rnic-suite: the IUT has not answered since "), last);
  BOOST_TEST(last.find("refused") != std::string::npos, last);
  BOOST_TEST(last.find("; the last case that passed is ddp.") != std::string::npos, last);
  BOOST_TEST(finished.out.find("` continues it") != std::string::npos, finished.out);
  const Json results = dut.results();
  BOOST_TEST(results["run"]["ending"] == "aborted");
  for (const Json& one : results["cases"])
    BOOST_TEST((one["verdict"] == "pass" || one["verdict"] == "not_applicable"), one["id"]);
  BOOST_TEST(nobody_left());

  dut.clear("down");
  BOOST_TEST(run(dut.words()).status == 0);
  dut.check_whole();
}

BOOST_AUTO_TEST_CASE(a_host_that_stays_away_is_reset) {
  const ToyDut dut;
  write(dut.scratch / "pixit.yaml",
        "pixit: 1\nreset_command: [rm, \"" + (dut.scratch / "down") + "\"]\n");
  Program program(dut.words());
  program.wait_for(first_passes);
  dut.set("down");
  dut.signal_all(SIGKILL);
  program.wait_for("resetting the IUT's host: `rm ");
  program.wait_for("the reset of the IUT's host ended: exit status 0");
  const Finished finished = program.finish();
  BOOST_TEST(finished.status == 0, finished.err);
  dut.check_whole();
  const std::string note = dut.results()["run"]["lab"]["note"];
  BOOST_TEST(note.find("; reset of the IUT's host at ") != std::string::npos, note);
  BOOST_TEST(nobody_left());
}

// After a BUG the host is reset, though it answers.
BOOST_AUTO_TEST_CASE(what_the_kernel_of_the_host_complains_of_is_seen) {
  const ToyDut dut;
  const std::string console = dut.scratch / "console";
  BOOST_REQUIRE(::mkfifo(console.c_str(), 0600) == 0);
  write_script(dut.scratch / "follow", "echo all is well\nexec cat \"" + console + "\"\n");
  write(dut.scratch / "pixit.yaml", "pixit: 1\nkernel_log: [\"" + (dut.scratch / "follow") +
                                        "\"]\nreset_command: [touch, \"" + (dut.scratch / "reset") +
                                        "\"]\n");
  // Enough cases that it goes on until the complaint has been seen.
  Words words = dut.words();
  words.insert(words.end(), {"--select", "rdmap.*"});
  Program program(words);
  const auto kernel = opened(console, O_WRONLY);
  program.wait_for(first_passes);
  const std::string complaint = "BUG: of the driver\n";
  BOOST_REQUIRE(::write(kernel.get(), complaint.data(), complaint.size()) ==
                static_cast<ssize_t>(complaint.size()));
  const Finished finished = program.finish();
  BOOST_TEST(finished.status == failure, finished.err);
  const Json results = dut.results();
  const std::string note = results["run"]["lab"]["note"], reset = "; reset of the IUT's host at ";
  BOOST_TEST(note.starts_with("the log of the IUT's kernel is followed" + reset), note);
  BOOST_TEST(note.find(reset) == note.rfind(reset), note);
  BOOST_TEST(fs::exists(dut.scratch / "reset"));
  std::size_t blamed = 0;
  for (const Json& one : results["cases"]) {
    if (one["kernel_log"] != complaint) continue;
    ++blamed;
    BOOST_TEST((one["verdict"] == "fail" || one["verdict"] == "error"), one["id"]);
  }
  BOOST_TEST(blamed > 0u);
  BOOST_TEST(text_of(fs::path(dut.scratch / "out") / "kernel.log").ends_with(complaint));
  BOOST_TEST(nobody_left());
}

BOOST_AUTO_TEST_CASE(a_connection_that_freezes_is_replaced) {
  const ToyDut dut("reply_deadline_ms: 1000\n");
  Program program(dut.words());
  program.wait_for(first_passes);
  dut.signal_all(SIGSTOP);
  const auto begin = steady_clock::now();
  const Finished finished = program.finish();
  BOOST_TEST(finished.status == 0, finished.err);
  BOOST_TEST((steady_clock::now() - begin < std::chrono::seconds(60)));
  dut.check_whole();
  BOOST_TEST(nobody_left());
}

BOOST_AUTO_TEST_CASE(a_host_that_freezes_is_noticed_within_seconds) {
  const ToyDut dut("reply_deadline_ms: 1000\nhello_deadline_ms: 1000\noutage_wait_ms: 2000\n");
  Program program(dut.words());
  program.wait_for(first_passes);
  dut.set("frozen");
  dut.signal_all(SIGSTOP);
  const auto begin = steady_clock::now();
  program.wait_for("the IUT has not answered since ");
  BOOST_TEST((steady_clock::now() - begin < std::chrono::seconds(60)));
  BOOST_TEST(program.finish().status == harness);
  BOOST_TEST(nobody_left());
}

// The agent of this host is killed by whoever makes a shared receive queue; `more` is what else
// happens then, in Python, and `first` what the script does at its start, in shell.
void kill_agents_of_shared_queues(const ToyDut& dut, const std::string& more,
                                  const std::string& first) {
  write(dut.scratch / "proxy.py",
        "import subprocess, sys\n"
        "agent = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)\n"
        "for line in iter(sys.stdin.buffer.readline, b''):\n"
        "    if b'\"create_shared_queue\"' in line:\n" +
            more +
            "        agent.kill()\n"
            "        break\n"
            "    agent.stdin.write(line)\n"
            "    agent.stdin.flush()\n"
            "agent.stdin.close()\n"
            "agent.wait()\n");
  write_script(dut.scratch / "ssh", first + "exec " + RNIC_PYTHON + " -u \"" +
                                        (dut.scratch / "proxy.py") + "\" " + agent +
                                        " --driver reference --address 127.0.0.1\n");
}

// A host that one isolated case takes down each time, and that is reset each time: the cases that
// are isolated too are not lost with it.
BOOST_AUTO_TEST_CASE(an_isolated_case_that_takes_the_host_down_takes_no_other_with_it) {
  const ToyDut dut;
  const std::string down = dut.scratch / "down";
  kill_agents_of_shared_queues(
      dut, "        open('" + down + "', 'w')\n",
      "test -e \"" + down + "\" && { echo 'ssh: connect to host dut: refused' >&2; exit 255; }\n");
  const std::string culprit =
      "rdmap.shared_receive.messages_of_two_streams_consume_one_receive_each";
  const std::vector<std::string> others{
      "ddp.tagged_validation.write_beyond_the_end_is_rejected",
      "ddp.tagged_validation.write_to_an_unknown_stag_is_rejected"};
  const auto isolated = [](const std::string& id) {
    return "  - {case: " + id + ", iut: agent, versions: any, harm: kernel, date: 2026-11-25}\n";
  };
  write(dut.scratch / "known.yaml",
        "entries: []\nisolated:\n" + isolated(culprit) + isolated(others[0]) + isolated(others[1]));
  write(dut.scratch / "pixit.yaml", "pixit: 1\nreset_command: [rm, \"" + down + "\"]\n");
  const Finished finished =
      run({suite_program, "run", "--iut", "agent:" + (dut.scratch / "ssh"), "--address",
           "127.0.0.1", "--pixit", dut.scratch / "pixit.yaml", "--expectations",
           dut.scratch / "known.yaml", "--select", culprit, "--select", others[0], "--select",
           others[1], "--out", dut.scratch / "out"});
  BOOST_TEST(finished.status == failure, finished.err);
  BOOST_TEST(finished.out.find("\nnote: the log of the IUT's kernel is ") != std::string::npos,
             finished.out);
  for (const Json& one : dut.results()["cases"])
    BOOST_TEST((one["verdict"] == (one["id"] == culprit ? "error" : "pass")),
               one["id"] << ": " << one["reason"]);
  BOOST_TEST(nobody_left());
}

// Whose case ends the agent each time, while all others are answered, has no outage to blame.
BOOST_AUTO_TEST_CASE(an_agent_that_one_kind_of_case_ends_is_a_verdict) {
  ToyDut dut;
  kill_agents_of_shared_queues(dut, "", "");
  Words words = dut.words();
  words.insert(words.end(), {"--select", "rdmap.*shared*"});
  const Finished finished = run(words);
  BOOST_TEST(finished.status == failure, finished.err);
  const Json results = dut.results();
  BOOST_TEST(results["run"]["complete"] == true);
  std::size_t lost = 0;
  for (const Json& one : results["cases"])
    if (one["verdict"] == "error") ++lost;
  BOOST_TEST(lost > 0u);
  BOOST_TEST(finished.err.find("has not answered") == std::string::npos, finished.err);
  BOOST_TEST(nobody_left());
}
