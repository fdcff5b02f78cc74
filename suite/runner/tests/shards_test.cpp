// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A run in shards, merged, is the run that one machine would have made: the same verdicts, the same
// gate, all evidence; anything that is not all of one run is refused.
#include <boost/test/unit_test.hpp>

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

Words chosen(const Words& more) {
  Words words{toy,        "run",           "--link",       "memory", "--select", "toy.verdict.*",
              "--select", "toy.finding.*", "--no-capture", "--jobs", "1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Runs the shards; returns their folders.
Words run_shards(const Scratch& scratch, unsigned count, const Words& more = {}) {
  Words folders;
  for (unsigned number = 1; number <= count; ++number) {
    folders.push_back(scratch / ("shard" + std::to_string(number)));
    Words words = chosen(
        {"--shard", std::to_string(number) + "/" + std::to_string(count), "--out", folders.back()});
    words.insert(words.end(), more.begin(), more.end());
    run(words);
    BOOST_REQUIRE(fs::exists(folders.back() + "/results.json"));
  }
  return folders;
}

Finished merge(const Words& folders, const Words& more) {
  Words words{toy, "merge"};
  words.insert(words.end(), folders.begin(), folders.end());
  words.insert(words.end(), more.begin(), more.end());
  return run(words);
}

// Verdict and gate of each case, without those of the harness.
std::map<std::string, std::pair<Json, Json>> outcomes(const Json& results) {
  std::map<std::string, std::pair<Json, Json>> all;
  for (const Json& one : results["cases"])
    if (one["layer"] != "harness") all[one["id"]] = {one["verdict"], one["gate"]};
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(merged_shards_are_the_whole_run) {
  const Scratch scratch;
  const Words folders = run_shards(scratch, 3);
  const Finished merged = merge(folders, {"--out", scratch / "merged"});
  BOOST_TEST(merged.status == failure, merged.err);
  BOOST_TEST(run(chosen({"--out", scratch / "whole"})).status == failure);
  const Json shards = results_in(scratch / "merged"), whole = results_in(scratch / "whole");
  BOOST_TEST((outcomes(shards) == outcomes(whole)));
  BOOST_TEST(outcomes(shards).size() == 6u);
  BOOST_TEST(shards["findings"].size() == 1u);
  BOOST_TEST(shards["findings"][0]["gate"] == whole["findings"][0]["gate"]);
  BOOST_TEST(shards["run"]["complete"] == true);
  BOOST_TEST(shards["run"]["exit_code"] == whole["run"]["exit_code"]);
  // Each shard has a sentinel before and after its cases.
  BOOST_TEST(shards["cases"].size() == 6u + 3 * 2);
  std::map<std::string, int> ids;
  for (const Json& one : shards["cases"]) ++ids[one["id"]];
  BOOST_TEST(ids.size() == shards["cases"].size());
  for (const Json& one : shards["cases"]) {
    if (one["pcap"].is_null()) continue;
    const fs::path pcap = fs::path(scratch / "merged") / one["pcap"]["file"].get<std::string>();
    BOOST_TEST(fs::file_size(pcap) == one["pcap"]["octets"].get<std::uint64_t>());
  }
  BOOST_TEST(
      run({RNIC_PYTHON, source + "/suite/results/tests/validate.py",
           source + "/reports/schema/results-1.schema.json", scratch / "merged/results.json"})
          .status == 0);
  BOOST_TEST(fs::exists(scratch / "merged/report.html"));
}

BOOST_AUTO_TEST_CASE(what_is_left_of_sessions_is_merged) {
  const Scratch scratch;
  const Words folders = run_shards(scratch, 2);
  std::size_t left = 0;
  for (const std::string& folder : folders) {
    const Json shard = results_in(folder);
    for (const Json& one : shard["cases"]) {
      if (one["layer"] == "harness") continue;
      fs::create_directory(folder + "/sessions");
      write(folder + "/sessions/" + one["id"].get<std::string>() + ".1.json", one["id"]);
      ++left;
    }
  }
  merge(folders, {"--out", scratch / "merged"});
  std::size_t merged = 0;
  for (const auto& file : fs::directory_iterator(scratch / "merged/sessions")) {
    BOOST_TEST(text_of(file.path()) + ".1.json" == file.path().filename().string());
    ++merged;
  }
  BOOST_TEST(left == 6U);
  BOOST_TEST(merged == left);
}

BOOST_AUTO_TEST_CASE(a_merged_run_can_be_added_to) {
  const Scratch scratch;
  const Words folders = run_shards(scratch, 2);
  merge(folders, {"--out", scratch / "merged"});
  const Finished again = run({toy, "run", "--link", "memory", "--select", "toy.verdict.fail",
                              "--no-capture", "--out", scratch / "merged"});
  BOOST_TEST(again.status == failure, again.err);
  const Json merged = results_in(scratch / "merged");
  const auto attempts = std::ranges::count_if(
      merged["cases"], [](const Json& one) { return one["id"] == "toy.verdict.fail"; });
  BOOST_TEST(attempts == 2);
  BOOST_TEST(merged["run"]["complete"] == true);
}

BOOST_AUTO_TEST_CASE(known_issues_hold_across_shards) {
  const Scratch scratch;
  write(scratch / "known.yaml", R"(entries: []
findings:
  - rule: mpa.framing.pad-sent-as-zero
    observed: "pad 01"
    case: toy.finding.in_passing
    iut: reference
    versions: any
    reason: the toy does so
    date: 2026-01-31
)");
  const Words known{"--expectations", scratch / "known.yaml"};
  const Words folders = run_shards(scratch, 3, known);
  merge(folders, {"--out", scratch / "merged"});
  const Json merged = results_in(scratch / "merged");
  BOOST_TEST(merged["findings"][0]["gate"]["result"] == "known");
  BOOST_TEST(merged["summary"]["stale_entries"].empty());
}

BOOST_AUTO_TEST_CASE(what_is_not_all_of_one_run_is_refused) {
  const Scratch scratch;
  const Words folders = run_shards(scratch, 3);
  const auto refused = [&](const Words& given, int status, const std::string& words) {
    const Finished finished = merge(given, {"--out", scratch / "merged"});
    BOOST_TEST(finished.status == status);
    BOOST_TEST(lines_of(finished.err).size() == 1u, finished.err);
    BOOST_TEST(finished.err.find(words) != std::string::npos, finished.err);
    BOOST_TEST(!fs::exists(scratch / "merged"));
  };
  refused({folders[0], folders[2]}, harness, "of 3 shards, 2 is missing");
  refused({folders[0], folders[1], folders[1], folders[2]}, usage, "shard 2/3 is given twice");
  refused({scratch / "none"}, usage, "none");
  run(chosen({"--out", scratch / "whole"}));
  refused({scratch / "whole"}, usage, "is not a shard");
  run(chosen({"--out", scratch / "strict", "--shard", "2/3", "--strict"}));
  refused({folders[0], scratch / "strict", folders[2]}, usage, "a run with another strict");
  run(chosen({"--out", scratch / "other", "--shard", "2/4"}));
  refused({folders[0], scratch / "other", folders[2]}, usage, "one of 4");
  BOOST_TEST(merge(folders, {"--out", scratch / "whole"}).status == usage);
}

BOOST_AUTO_TEST_CASE(a_bad_shard_is_refused) {
  for (const char* text : {"0/4", "5/4", "2", "2/", "/4", "a/b", "1/100000", "2/4/8", "-1/4"}) {
    const Finished finished = run(chosen({"--shard", text}));
    BOOST_TEST(finished.status == usage, text);
    BOOST_TEST(lines_of(finished.err).size() == 1u, finished.err);
  }
  const Finished many = run(chosen({"--shard", "1/90"}));
  BOOST_TEST(many.status == usage);
  BOOST_TEST(many.err.find("there are only 6 cases") != std::string::npos, many.err);
}

// Every case is in just one shard.
BOOST_AUTO_TEST_CASE(shards_share_the_cases) {
  std::map<std::string, int> times;
  for (const char* shard : {"1/3", "2/3", "3/3"}) {
    const Finished part = run({toy, "list", "--shard", shard});
    const auto lines = lines_of(part.out);
    BOOST_TEST(lines.size() >= lines_of(run({toy, "list"}).out).size() / 3);
    for (const std::string& id : lines) ++times[id];
  }
  BOOST_TEST(times.size() == lines_of(run({toy, "list"}).out).size());
  for (const auto& [id, count] : times) BOOST_TEST(count == 1, id);
}
