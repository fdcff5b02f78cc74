// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A draft is refused as long as a reason is missing; with reasons it lists just the failures that it
// was made of.
#include "suite/expectations/draft.hpp"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "suite/expectations/known_issue_gate.hpp"

using namespace suite::expectations;
namespace results = suite::results;

namespace {

constexpr const char* rule = "ddp.tagged.base-or-bounds";
constexpr const char* other_rule = "rdmap.terminate.header-format";

const Known known{.is_case = [](const std::string& id) { return id == "ddp.a.b"; },
                  .is_rule = [](const std::string& id) { return id == rule || id == other_rule; }};

std::expected<KnownIssues, std::vector<Fault>> load_text(const std::string& text) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("draft_test." + std::to_string(::getpid()) + ".yaml");
  std::ofstream(file) << text;
  auto loaded = load(file, known);
  std::filesystem::remove(file);
  return loaded;
}

results::CaseRecord failure(const std::string& stag) {
  results::CaseRecord record;
  record.id = "ddp.a.b";
  record.layer = "ddp";
  record.rules = {rule};
  record.outcome.verdict = results::Verdict::fail;
  for (const char* broken : {rule, other_rule}) {
    results::ExpectationRecord one;
    one.rule = broken;
    one.judgement = results::Judgement::fail;
    one.actual = "Write [D] stag=" + stag + " \"refused\"";
    record.outcome.expectations.push_back(one);
  }
  record.gate.result = results::GateResult::new_failure;
  return record;
}

results::Document run_with_failures() {
  results::Document run;
  run.run.iut.kind = "verbs";
  run.run.iut.identity.implementation = "acme0 (vendor 0x1234, part 0x1)";
  run.run.iut.identity.firmware = "7.1.2-rc3";
  run.run.iut.identity.kernel = "6.1.0";
  run.cases.push_back(failure("0x409b3c00"));
  results::FindingRecord finding;
  finding.rule = other_rule;
  finding.observed = {"Terminate*odd"};
  finding.first_case = "ddp.a.b";
  finding.gate.result = results::GateResult::new_failure;
  run.findings.push_back(finding);
  return run;
}

std::string with_reasons(std::string text) {
  const std::string none = "reason: \"\"", given = "reason: \"it is so\"";
  for (std::size_t at = 0; (at = text.find(none, at)) != std::string::npos; at += given.size())
    text.replace(at, none.size(), given);
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(drafts)

BOOST_AUTO_TEST_CASE(a_draft_is_refused_until_its_reasons_are_given) {
  const std::string text = draft(run_with_failures(), "2026-01-31");
  const auto loaded = load_text(text);
  BOOST_REQUIRE(!loaded.has_value());
  BOOST_TEST(loaded.error().size() == 2u);
  for (const Fault& fault : loaded.error())
    BOOST_TEST(fault.find("`reason` must be a text") != std::string::npos, fault);
}

BOOST_AUTO_TEST_CASE(a_reason_of_spaces_is_none) {
  std::string text = draft(run_with_failures(), "2026-01-31");
  const std::string none = "reason: \"\"";
  text.replace(text.find(none), none.size(), "reason: \"  \"");
  const auto loaded = load_text(text);
  BOOST_REQUIRE(!loaded.has_value());
  BOOST_TEST(loaded.error().size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_draft_in_which_somebody_has_written_is_not_replaced) {
  const std::string text = draft(run_with_failures(), "2026-01-31");
  BOOST_TEST(is_unwritten_draft(text));
  BOOST_TEST(!is_unwritten_draft(with_reasons(text)));
  std::string half = text;
  half.replace(half.rfind("reason: \"\""), 10, "harm: kernel");
  BOOST_TEST(!is_unwritten_draft(half));
  BOOST_TEST(!is_unwritten_draft("entries: []\n"));
  BOOST_TEST(!is_unwritten_draft(""));
}

BOOST_AUTO_TEST_CASE(a_completed_draft_knows_its_failures_on_any_device_of_that_firmware) {
  const results::Document run = run_with_failures();
  auto loaded = load_text(with_reasons(draft(run, "2026-01-31")));
  BOOST_REQUIRE_MESSAGE(loaded.has_value(), (loaded ? "" : loaded.error().front()));
  results::IutRecord second = run.run.iut;
  second.identity.implementation = "acme12 (vendor 0x1234, part 0x1)";
  const Gate gate(*loaded, second);
  BOOST_TEST((gate.judge(failure("0x55aa55aa")).result == results::GateResult::known));
  BOOST_TEST((gate.judge(run.findings.front()).result == results::GateResult::known));
  results::CaseRecord differs = failure("0x409b3c00");
  differs.outcome.expectations.front().actual = "nothing";
  BOOST_TEST((gate.judge(differs).result == results::GateResult::new_failure));
  second.identity.firmware = "7.2";
  BOOST_TEST((Gate(*loaded, second).judge(failure("0x55aa55aa")).result ==
              results::GateResult::new_failure));
}

BOOST_AUTO_TEST_CASE(what_no_file_can_list_is_left_out) {
  results::Document run = run_with_failures();
  run.cases.front().outcome.verdict = results::Verdict::error;
  run.findings.clear();
  const auto loaded = load_text(draft(run, "2026-01-31"));
  BOOST_REQUIRE_MESSAGE(loaded.has_value(), (loaded ? "" : loaded.error().front()));
  BOOST_TEST(loaded->entries.empty());
}

BOOST_AUTO_TEST_SUITE_END()
