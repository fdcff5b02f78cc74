// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/results/record.hpp"

#include <algorithm>

namespace suite::results {

namespace {

void count(Summary& summary, const CaseRecord& record) {
  const std::string verdict(name(record.outcome.verdict));
  ++summary.cases;
  ++summary.verdicts[verdict];
  ++summary.gate[std::string(name(record.gate.result))];
  ++summary.layers[record.layer][verdict];
  summary.advisories += record.advisories.size();
  if (!record.pcap) {
    ++summary.without_pcap;
  } else if (record.pcap->source == PcapSource::tester) {
    ++summary.tester_pcaps;
  }
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

void add(std::vector<FindingRecord>& findings, const CaseRecord& record,
         const ExpectationRecord& seen) {
  auto found = std::ranges::find(findings, seen.rule, &FindingRecord::rule);
  if (found == findings.end()) {
    findings.push_back({.rule = seen.rule,
                        .cases = 0,
                        .first_case = record.id,
                        .observed = {},
                        .admissible = {},
                        .gate = {GateResult::new_failure, "", "not compared with the known issues"},
                        .rerun = record.rerun});
    found = std::prev(findings.end());
  }
  add_once(found->observed, seen.actual);
  for (const std::string& text : seen.admissible) add_once(found->admissible, text);
}

}  // namespace

Summary summarise(std::vector<CaseRecord>& cases) {
  std::map<std::string_view, const CaseRecord*> last;
  for (const CaseRecord& record : cases) {
    const CaseRecord*& held = last[record.id];
    if (held == nullptr || held->attempt <= record.attempt) held = &record;
  }
  Summary summary;
  summary.attempts = cases.size();
  for (CaseRecord& record : cases) {
    if (last[record.id] == &record) {
      count(summary, record);
      if (record.gate.result == GateResult::stale)
        summary.stale_entries.push_back(record.gate.entry + " " + record.id);
    } else {
      record.gate.result = GateResult::superseded;
    }
  }
  return summary;
}

std::vector<FindingRecord> gather_findings(const std::vector<CaseRecord>& cases) {
  std::vector<FindingRecord> findings;
  for (const CaseRecord& record : cases) {
    // The sentinel only shows whether the IUT answers.
    if (record.gate.result == GateResult::superseded || record.layer == "harness") continue;
    for (const ExpectationRecord& one : record.outcome.expectations)
      if (one.judgement == Judgement::also_seen) add(findings, record, one);
    for (FindingRecord& finding : findings)
      finding.cases += std::ranges::any_of(record.outcome.expectations, [&](const auto& one) {
        return one.judgement == Judgement::also_seen && one.rule == finding.rule;
      });
  }
  return findings;
}

}  // namespace suite::results
