// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A run into a folder that already has one: attempts are added to the run that it repeats, an
// interrupted or killed run continues, and no other run is ever changed.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "suite/runner/tests/program.hpp"

using namespace suite::runner::tests;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr int failure = 1, usage = 2, harness = 3;
const std::string toy = RNIC_TOY, source = RNIC_SOURCE;

Json results_in(const fs::path& folder) { return Json::parse(text_of(folder / "results.json")); }

// The numbers of the attempts at each case, in order.
std::map<std::string, std::vector<int>> attempts(const fs::path& folder) {
  std::map<std::string, std::vector<int>> all;
  const Json results = results_in(folder);
  for (const Json& one : results["cases"]) all[one["id"]].push_back(one["attempt"]);
  return all;
}

// Every file in it with what it holds.
std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) all[entry.path()] = text_of(entry.path());
  return all;
}

std::map<std::string, std::string> evidence(const fs::path& folder) {
  auto all = contents(folder);
  std::erase_if(all, [](const auto& one) { return !one.first.ends_with(".pcap"); });
  return all;
}

// Cases that pass, fail, and leave a pcap.
Words some(const Words& more) {
  Words words{
      toy,        "run",          "--select", "toy.verdict.pass", "--select", "toy.verdict.fail",
      "--select", "toy.traffic.*"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

bool valid(const fs::path& folder) {
  return run({RNIC_PYTHON, source + "/suite/results/tests/validate.py",
              source + "/reports/schema/results-1.schema.json", folder / "results.json"})
             .status == 0;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_rerun_adds_attempts_to_the_run) {
  const Scratch scratch;
  const std::string out = scratch / "out";
  BOOST_TEST(run(some({"--out", out})).status == failure);
  const auto pcaps = evidence(out);
  BOOST_REQUIRE(!pcaps.empty());
  const Json first = results_in(out);

  const Finished again = run({toy, "run", "--rerun-failed", "--out", out});
  BOOST_TEST(again.status == failure);
  BOOST_TEST(again.out.find("5 cases: ") != std::string::npos, again.out);  // with the sentinels
  auto made = attempts(out);
  BOOST_TEST((made["toy.verdict.fail"] == std::vector<int>{1, 2}));
  BOOST_TEST((made["toy.verdict.pass"] == std::vector<int>{1}));
  BOOST_TEST((made["toy.traffic.over_tcp"] == std::vector<int>{1}));

  BOOST_TEST(run({toy, "run", "--select", "toy.traffic.*", "--out", out}).status == failure);
  made = attempts(out);
  BOOST_TEST((made["toy.traffic.over_tcp"] == std::vector<int>{1, 2}));
  BOOST_TEST((made["toy.verdict.fail"] == std::vector<int>{1, 2}));

  const Json last = results_in(out);
  BOOST_TEST(last["run"]["id"] == first["run"]["id"]);
  BOOST_TEST(last["run"]["complete"] == true);
  BOOST_TEST(last["run"]["sessions"].size() == 3u);
  BOOST_TEST(last["summary"]["cases"] == first["summary"]["cases"]);
  BOOST_TEST(last["summary"]["verdicts"] == first["summary"]["verdicts"]);
  for (std::size_t i = 0; i < first["cases"].size(); ++i) {
    Json before = first["cases"][i], after = last["cases"][i];
    before.erase("gate");  // that of an earlier attempt becomes `superseded`
    after.erase("gate");
    BOOST_TEST(before == after);
  }
  for (const auto& [file, octets] : pcaps) BOOST_TEST((text_of(file) == octets), file);
  BOOST_TEST(evidence(out).size() > pcaps.size());
  BOOST_TEST(valid(out));
}

// The words that the report shows for one case.
BOOST_AUTO_TEST_CASE(the_command_that_is_shown_adds_to_the_same_run) {
  const Scratch scratch;
  BOOST_TEST(run(some({"--out", scratch / "out"})).status == failure);
  const Json results = results_in(scratch / "out");
  for (const Json& one : results["cases"]) {
    if (one["id"] != "toy.verdict.fail") continue;
    BOOST_TEST(one["rerun"] == toy + " run --select toy.verdict.fail --out " + (scratch / "out"));
  }
}

BOOST_AUTO_TEST_CASE(another_run_is_refused_where_the_folder_was_named) {
  const Scratch scratch;
  const std::string out = scratch / "out";
  BOOST_TEST(run(some({"--out", out})).status == failure);
  const auto before = contents(out);
  for (const Words& other :
       {Words{toy, "run", "--out", out}, some({"--strict", "--out", out}),
        Words{toy, "run", "--select", "toy.verdict.inconclusive", "--out", out},
        Words{toy, "run", "--link", "memory", "--rerun-failed", "--out", out}}) {
    const Finished finished = run(other);
    BOOST_TEST(finished.status == usage);
    BOOST_TEST(lines_of(finished.err).size() == 1u, finished.err);
    BOOST_TEST(finished.err.find(out + " holds a run ") != std::string::npos, finished.err);
    BOOST_TEST((contents(out) == before));
  }
  const Finished fresh = run(some({"--fresh", "--out", out}));
  BOOST_TEST(fresh.status == failure);
  BOOST_TEST(fresh.out.find("report: " + out + ".2/report.html") != std::string::npos, fresh.out);
  BOOST_TEST((contents(out) == before));
}

BOOST_AUTO_TEST_CASE(another_run_gets_a_number_where_no_folder_was_named) {
  const Scratch scratch;
  const Program::Setting inside{.folder = scratch.path};
  BOOST_TEST(run(some({}), inside).status == failure);
  const auto before = contents(scratch / "out");
  const Finished strict = run(some({"--strict"}), inside);
  BOOST_TEST(strict.status == failure);
  BOOST_TEST(strict.err.find("out holds a run with another strict: this run goes to out.2\n") !=
                 std::string::npos,
             strict.err);
  BOOST_TEST((attempts(scratch / "out.2")["toy.verdict.fail"] == std::vector<int>{1}));
  // Each finds its own again.
  BOOST_TEST(run({toy, "run", "--strict", "--rerun-failed"}, inside).status == failure);
  BOOST_TEST((attempts(scratch / "out.2")["toy.verdict.fail"] == std::vector<int>{1, 2}));
  BOOST_TEST((contents(scratch / "out") == before));
  BOOST_TEST(run({toy, "run", "--rerun-failed"}, inside).status == failure);
  BOOST_TEST((attempts(scratch / "out")["toy.verdict.fail"] == std::vector<int>{1, 2}));
  BOOST_TEST(!fs::exists(scratch / "out.3"));
}

// A complete run of all cases is not repeated in its own folder.
BOOST_AUTO_TEST_CASE(a_complete_run_stays) {
  const Scratch scratch;
  const Program::Setting inside{.folder = scratch.path};
  const Words all{RNIC_SUITE, "run", "--link", "memory", "--no-capture", "--jobs", "8"};
  BOOST_TEST(run(all, inside).status == 0);
  const auto before = contents(scratch / "out");
  const Finished second = run(all, inside);
  BOOST_TEST(second.status == 0);
  BOOST_TEST(second.err.find("out holds a complete run of just this: this run goes to out.2\n") !=
                 std::string::npos,
             second.err.substr(0, 300));
  BOOST_TEST((contents(scratch / "out") == before));
}

BOOST_AUTO_TEST_CASE(the_same_command_goes_on_after_a_kill_or_ctrl_c) {
  for (const int signal : {SIGKILL, SIGINT}) {
    BOOST_TEST_CONTEXT(signal) {
      const Scratch scratch;
      const std::string out = scratch / "out";
      const Words words = some({"--select", "toy.slow.first_time", "--jobs", "1", "--out", out});
      const Program::Setting setting{.environment = {{"TOY_MARK", scratch / "mark"}}};
      Program program(words, setting);
      program.wait_for_file(scratch / "mark");
      program.wait_for("harness.sentinel.alive.first");
      program.signal(signal);
      BOOST_TEST(program.finish().status == (signal == SIGKILL ? -SIGKILL : harness));
      const std::string journal = text_of(fs::path(out) / "results.ndjson");
      const auto pcaps = evidence(out);
      // As a power loss leaves it.
      std::ofstream(fs::path(out) / "results.ndjson", std::ios::app) << "{\"case\": {\"id\": \"to";

      const Finished second = run(words, setting);
      BOOST_TEST(second.status == failure, second.err);
      BOOST_TEST(text_of(fs::path(out) / "results.ndjson").starts_with(journal));
      for (const auto& [file, octets] : pcaps) BOOST_TEST((text_of(file) == octets), file);
      auto made = attempts(out);
      for (const char* id :
           {"toy.verdict.pass", "toy.verdict.fail", "toy.traffic.over_tcp", "toy.slow.first_time"})
        BOOST_TEST((made[id] == std::vector<int>{1}), id);
      const Json run_record = results_in(out)["run"];
      BOOST_TEST(run_record["complete"] == true);
      BOOST_TEST(run_record["sessions"].size() == 2u);
      BOOST_TEST(run_record["sessions"][0]["ending"] ==
                 (signal == SIGKILL ? "killed" : "interrupted"));
      BOOST_TEST(valid(out));
      BOOST_TEST(run({toy, "collect", out}).status == failure);
    }
  }
}

// What is left of a run that was killed is neither lost nor complete.
BOOST_AUTO_TEST_CASE(attempts_can_be_added_to_a_run_that_was_killed) {
  const Scratch scratch;
  const std::string out = scratch / "out";
  const Words words = some({"--select", "toy.slow.first_time", "--out", out});
  const Program::Setting setting{.environment = {{"TOY_MARK", scratch / "mark"}}};
  Program program(words, setting);
  program.wait_for_file(scratch / "mark");
  program.wait_for("toy.verdict.fail (");
  program.wait_for("toy.verdict.pass (");
  program.wait_for("toy.traffic.over_tcp (");
  program.signal(SIGKILL);
  static_cast<void>(program.finish());
  const Finished rerun = run({toy, "run", "--rerun-failed", "--out", out}, setting);
  BOOST_TEST(rerun.status == harness);
  BOOST_TEST(rerun.err.find("1 of 4 cases have no verdict") != std::string::npos, rerun.err);
  BOOST_TEST(rerun.out.find("--select toy.slow.first_time --out " + out + "` continues it") !=
                 std::string::npos,
             rerun.out);
  BOOST_TEST((attempts(out)["toy.verdict.fail"] == std::vector<int>{1, 2}));
  BOOST_TEST(run(words, setting).status == failure);
  BOOST_TEST(results_in(out)["run"]["complete"] == true);
  BOOST_TEST((attempts(out)["toy.slow.first_time"] == std::vector<int>{1}));
}
