// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A gate with a baseline, and one that holds an edition: only what got worse, and only what the
// edition judges, fails.
#include <boost/test/unit_test.hpp>

#include <fstream>

#include <nlohmann/json.hpp>

#include "suite/runner/tests/program.hpp"

using namespace suite::runner::tests;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr int good = 0, failure = 1, usage = 2;
const std::string toy = RNIC_TOY;

Json results_in(const fs::path& folder) { return Json::parse(text_of(folder / "results.json")); }

Words chosen(const Words& more) {
  Words words{toy,        "run",           "--link",   "memory",       "--no-capture",
              "--select", "toy.verdict.*", "--select", "toy.finding.*"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Json& record_of(Json& results, const std::string& id) {
  for (Json& one : results["cases"])
    if (one["id"] == id) return one;
  throw std::runtime_error(id);
}

struct WithBaseline {
  WithBaseline() {
    BOOST_TEST(run(chosen({"--out", scratch / "base"})).status == failure);
    results = results_in(scratch / "base");
  }
  // A run against the baseline as changed.
  Finished gate(const std::string& out) {
    write(scratch / "base.json", results.dump());
    return run(chosen({"--baseline", scratch / "base.json", "--out", scratch / out}));
  }
  Scratch scratch;
  Json results;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(what_failed_before_may_fail_again, WithBaseline) {
  const Finished same = gate("same");
  BOOST_TEST(same.status == good, same.out);
  Json made = results_in(scratch / "same");
  BOOST_TEST(record_of(made, "toy.verdict.fail")["gate"]["result"] == "known");
  BOOST_TEST(record_of(made, "toy.verdict.inconclusive")["gate"]["result"] == "known");
  BOOST_TEST(made["findings"][0]["gate"]["result"] == "known");
}

BOOST_FIXTURE_TEST_CASE(a_regression_fails, WithBaseline) {
  record_of(results, "toy.verdict.fail")["verdict"] = "pass";
  const Finished regression = gate("regression");
  BOOST_TEST(regression.status == failure);
  Json made = results_in(scratch / "regression");
  BOOST_TEST(record_of(made, "toy.verdict.fail")["gate"]["result"] == "new_failure");
  BOOST_TEST(record_of(made, "toy.verdict.inconclusive")["gate"]["result"] == "known");
}

BOOST_FIXTURE_TEST_CASE(a_failure_for_another_rule_is_a_regression, WithBaseline) {
  record_of(results, "toy.verdict.fail")["expectations"][0]["rule"] = "mpa.framing.ulpdu-length";
  BOOST_TEST(gate("other").status == failure);
}

BOOST_FIXTURE_TEST_CASE(a_worse_verdict_is_a_regression, WithBaseline) {
  record_of(results, "toy.verdict.fail")["verdict"] = "inconclusive";
  BOOST_TEST(gate("worse").status == failure);
}

BOOST_FIXTURE_TEST_CASE(a_new_finding_is_a_regression, WithBaseline) {
  results["findings"] = Json::array();
  BOOST_TEST(gate("finding").status == failure);
}

BOOST_FIXTURE_TEST_CASE(what_is_fixed_since_does_not_fail, WithBaseline) {
  record_of(results, "toy.verdict.pass")["verdict"] = "fail";
  BOOST_TEST(gate("fixed").status == good);
}

// A known issue that no longer shows is not worse than the baseline.
BOOST_FIXTURE_TEST_CASE(a_stale_known_issue_does_not_fail_against_a_baseline, WithBaseline) {
  write(scratch / "known.yaml", R"(entries:
  - {case: toy.verdict.pass, verdict: fail, rule: ddp.tagged.check-end-in-range, observed: "*",
     iut: reference, versions: any, reason: it was so, date: 2026-01-31}
)");
  const Words known{"--expectations", scratch / "known.yaml", "--select", "toy.verdict.pass"};
  Words words{toy, "run", "--link", "memory", "--no-capture", "--out", scratch / "stale"};
  words.insert(words.end(), known.begin(), known.end());
  BOOST_TEST(run(words).status == 4);
  words[6] = scratch / "compared";
  words.insert(words.end(), {"--baseline", scratch / "base"});
  BOOST_TEST(run(words).status == good);
}

BOOST_FIXTURE_TEST_CASE(a_baseline_that_cannot_be_used_is_refused, WithBaseline) {
  results["run"]["complete"] = false;
  const Finished incomplete = gate("incomplete");
  BOOST_TEST(incomplete.status == usage);
  BOOST_TEST(incomplete.err.find("is not complete") != std::string::npos, incomplete.err);
  for (const std::string& file : {scratch / "none", std::string("/dev/null")}) {
    const Finished refused = run(chosen({"--baseline", file, "--out", scratch / "refused"}));
    BOOST_TEST(refused.status == usage, file);
    BOOST_TEST(lines_of(refused.err).size() == 1u, refused.err);
  }
  BOOST_TEST(!fs::exists(scratch / "refused"));
}

BOOST_FIXTURE_TEST_CASE(diff_shows_what_changed, WithBaseline) {
  record_of(results, "toy.verdict.fail")["verdict"] = "pass";
  fs::create_directory(scratch / "before");
  write(scratch / "before/results.json", results.dump());
  const Finished worse = run({toy, "diff", scratch / "before", scratch / "base"});
  BOOST_TEST(worse.status == failure, worse.err);
  BOOST_TEST(worse.out.find("1 new failure since the baseline") != std::string::npos, worse.out);
  BOOST_TEST(worse.out.find("toy.verdict.fail") != std::string::npos, worse.out);
  BOOST_TEST(run({toy, "diff", scratch / "base", scratch / "before"}).status == good);
  BOOST_TEST(run({toy, "diff", scratch / "base"}).status == usage);
  BOOST_TEST(run({toy, "diff", scratch / "base", scratch / "none"}).status == 3);
}

// ---------------------------------------------------------------- editions

namespace {

Finished in_edition(const Scratch& scratch, const std::string& out, const Json& rules,
                    const Json& cases) {
  write(scratch / "edition.json",
        Json{{"edition", "2020.1"}, {"rules", rules}, {"cases", cases}}.dump());
  return run({toy, "run", "--link", "memory", "--no-capture", "--select", "toy.verdict.fail",
              "--select", "toy.finding.*", "--edition", scratch / "edition.json", "--out",
              scratch / out});
}

const std::string rule = "ddp.tagged.check-end-in-range", padding = "mpa.framing.pad-sent-as-zero";

}  // namespace

BOOST_AUTO_TEST_CASE(an_edition_judges_what_it_has) {
  const Scratch scratch;
  const Json passing{{"toy.finding.in_passing", Json::array({rule})}};
  Json both = passing;
  both["toy.verdict.fail"] = Json::array({rule});
  Json without_rule = passing;
  without_rule["toy.verdict.fail"] = Json::array({padding});
  BOOST_TEST(in_edition(scratch, "all", {rule, padding}, both).status == failure);
  BOOST_TEST(in_edition(scratch, "finding", {rule, padding}, passing).status == failure);
  BOOST_TEST(in_edition(scratch, "case", {rule}, passing).status == good);
  BOOST_TEST(in_edition(scratch, "stricter", {rule}, without_rule).status == good);
  BOOST_TEST(in_edition(scratch, "rule", {rule}, both).status == failure);
  Json made = results_in(scratch / "case");
  const Json gate = record_of(made, "toy.verdict.fail")["gate"];
  BOOST_TEST(gate["result"] == "known");
  BOOST_TEST(gate["entry"] == "edition 2020.1");
  BOOST_TEST(made["run"]["options"]["edition"] == scratch / "edition.json");
}

BOOST_AUTO_TEST_CASE(an_edition_that_is_not_there_is_refused) {
  const Scratch scratch;
  const Finished finished = run({toy, "run", "--edition", "1999.1", "--out", scratch / "out"});
  BOOST_TEST(finished.status == usage);
  BOOST_TEST(finished.err.find("there is no edition '1999.1'") != std::string::npos, finished.err);
  write(scratch / "bad.json", "{}");
  BOOST_TEST(
      run({toy, "run", "--edition", scratch / "bad.json", "--out", scratch / "out"}).status ==
      usage);
}
