// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/results/record.hpp"

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

}  // namespace suite::results
