// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The reference behind an agent gets the verdicts of the reference in process, case by case, and
// every case has a live capture.
#include <boost/test/unit_test.hpp>

#include <algorithm>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "suite/runner/tests/program.hpp"

using namespace suite::runner::tests;
using Json = nlohmann::json;

namespace {

struct Judged {
  std::map<std::string, std::string> verdicts;  ///< by case id
  std::size_t captured = 0, made_up = 0;        ///< pcaps: live, and written by the tester itself
};

std::string last_lines(const std::string& text, std::size_t count) {
  const Words lines = lines_of(text);
  return fmt::format(
      "{}", fmt::join(lines.end() - static_cast<std::ptrdiff_t>(std::min(count, lines.size())),
                      lines.end(), "\n"));
}

Judged judged(const std::string& iut) {
  const Scratch scratch;
  const Finished finished = run({RNIC_SUITE, "run", "--iut", iut, "--out", scratch / "out"});
  BOOST_TEST_REQUIRE(std::filesystem::exists(scratch / "out/results.json"), finished.err);
  BOOST_TEST(finished.status == 0, "the run ends with\n" << last_lines(finished.err, 10));
  const Json results = Json::parse(text_of(scratch / "out/results.json"));
  Judged all;
  for (const Json& one : results.at("cases")) {
    all.verdicts[one.at("id")] = one.at("verdict");
    BOOST_TEST((one.at("verdict") == "pass" || one.at("verdict") == "not_applicable"),
               iut << ": " << one.dump(1));
    const Json& pcap = one.at("pcap");
    if (pcap.is_object()) ++(pcap.at("source") == "capture" ? all.captured : all.made_up);
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_agent_changes_no_verdict) {
  const Judged in_process = judged("reference"), behind = judged("agent:reference");
  BOOST_TEST(in_process.verdicts.size() > 300U);
  BOOST_TEST(in_process.verdicts.size() == behind.verdicts.size());
  for (const auto& [id, verdict] : in_process.verdicts) {
    const auto found = behind.verdicts.find(id);
    BOOST_TEST((found != behind.verdicts.end() && found->second == verdict), id);
  }
  for (const Judged& one : {in_process, behind}) {
    BOOST_TEST(one.captured > 300U);
    BOOST_TEST(one.made_up == 0U);
  }
}
