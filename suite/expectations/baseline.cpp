// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/expectations/baseline.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "suite/expectations/answers.hpp"

namespace suite::expectations {

namespace {

using results::CaseRecord;

bool counts_as_bad(const CaseRecord& record) {
  return record.gate.result != results::GateResult::superseded && is_bad(record.outcome.verdict);
}

Entry entry_of(const CaseRecord& record) {
  Entry entry;
  entry.verdict = record.outcome.verdict;
  entry.observed = {"*"};
  entry.iut = "*";
  entry.date = record.start.substr(0, std::string_view("2026-01-31").size());
  for (const results::ExpectationRecord& one : record.outcome.expectations) {
    if (one.judgement != results::Judgement::fail) continue;
    if (entry.rule.empty()) entry.rule = one.rule;
    if (std::ranges::find(entry.also, one.rule) == entry.also.end()) entry.also.push_back(one.rule);
  }
  entry.reason = fmt::format("as in the baseline: {}", record.outcome.reason);
  return entry;
}

}  // namespace

KnownIssues issues_of(const results::Document& run, const std::string& place,
                      const std::function<std::string(const std::string&)>& current_id) {
  KnownIssues known;
  for (const CaseRecord& record : run.cases) {
    if (!counts_as_bad(record)) continue;
    known.entries.push_back(entry_of(record));
    known.entries.back().place = place;
    known.entries.back().case_id = current_id(record.id);
  }
  for (const results::FindingRecord& finding : run.findings) {
    KnownFinding& one = known.findings.emplace_back();
    one.place = place;
    one.rule = finding.rule;
    one.observed = {"*"};
    one.case_id = current_id(finding.first_case);
    one.intermittent = true;
    one.iut = "*";
    one.reason = "as in the baseline";
  }
  return known;
}

}  // namespace suite::expectations
