// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An IUT that several cases use at the same time: a verdict that fails the run, or calls an entry
// stale, counts only if it is the same when the case is played alone.
#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "suite/runner/tests/program.hpp"

using namespace suite::runner::tests;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr int failure = 1, stale = 4;
// Two cases that last seconds, so that each runs beside the other.
const std::string lasting = "mpa.startup_responder.*_times_out",
                  one_case = "mpa.startup_responder.missing_request_times_out";

struct SharedIut {
  Finished run_with(const std::string& known, const std::string& agent_options = "") {
    write(scratch / "known.yaml", known);
    Finished finished =
        run({RNIC_SUITE, "run", "--iut",
             std::string("agent:") + RNIC_AGENT + " --driver reference --address 127.0.0.1" +
                 agent_options,
             "--address", "127.0.0.1", "--no-capture", "--strict", "--select", lasting,
             "--expectations", scratch / "known.yaml", "--out", scratch / "out"});
    results = Json::parse(text_of(fs::path(scratch / "out") / "results.json"));
    return finished;
  }
  // A case's attempts, in their order.
  [[nodiscard]] std::vector<Json> attempts_of(const std::string& id) const {
    std::vector<Json> found;
    for (const Json& one : results["cases"])
      if (one["id"] == id) found.push_back(one);
    return found;
  }
  Scratch scratch;
  Json results;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(an_entry_is_stale_only_if_the_case_passes_alone_too, SharedIut) {
  const Finished finished = run_with("entries:\n  - case: " + one_case + R"(
    verdict: fail
    observed: "*"
    rule: mpa.startup.responder-times-out
    iut: agent
    versions: any
    reason: RFC 5044 7.1.2 has a Responder give up
    date: 2026-01-31
)");
  BOOST_TEST(finished.status == stale, finished.err);
  const auto seen = attempts_of(one_case);
  BOOST_REQUIRE(seen.size() == 2U);
  BOOST_TEST(seen[0]["verdict"] == "pass");
  BOOST_TEST(seen[0]["gate"]["result"] == "superseded");
  BOOST_TEST(seen[0]["gate"]["reason"] ==
             "it passed beside other cases, and is played again alone");
  BOOST_TEST(seen[1]["gate"]["result"] == "stale");
  BOOST_TEST(results["summary"]["stale_entries"].size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_failure_is_new_only_if_the_case_fails_alone_too, SharedIut) {
  const Finished finished = run_with("entries: []\n", " --deviation empty_connection_kept");
  BOOST_TEST(finished.status == failure, finished.err);
  const auto seen = attempts_of(one_case);
  BOOST_REQUIRE(seen.size() == 2U);
  BOOST_TEST(seen[0]["gate"]["result"] == "superseded");
  BOOST_TEST(seen[0]["failed_beside_others"] == true);
  BOOST_TEST(seen[1]["gate"]["result"] == "new_failure");
  BOOST_TEST(seen[1]["failed_beside_others"] == false);
}
