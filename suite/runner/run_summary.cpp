// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/run_summary.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "suite/runner/options.hpp"
#include "suite/runner/progress.hpp"

namespace suite::runner {

namespace {

using results::GateResult;

// The command that plays what is missing. A session that added attempts and got to its end leaves
// that to the run's own command.
std::string completing_command(const results::RunRecord& run) {
  const bool at_its_end =
      run.sessions.empty() || run.sessions.back().ending == results::Ending::finished;
  return shell_text(at_its_end ? run.command : run.sessions.back().command);
}

}  // namespace

Findings findings_of(const results::Document& document, const std::string& sentinel) {
  Findings findings{.harness = !document.run.complete, .new_failure = false, .stale = false};
  bool judged = false;
  for (const results::CaseRecord& record : document.cases) {
    if (record.gate.result == GateResult::superseded) continue;
    findings.new_failure |= record.gate.result == GateResult::new_failure;
    findings.stale |= record.gate.result == GateResult::stale;
    judged |=
        record.verdict != results::Verdict::not_applicable && !record.id.starts_with(sentinel);
  }
  findings.harness |= !judged;
  return findings;
}

std::string outcome_text(const results::Document& document, const std::string& folder) {
  std::string text;
  for (const results::CaseRecord& record : document.cases)
    if (record.gate.result == GateResult::new_failure) text += "\n" + failure_text(record, folder);
  for (const std::string& entry : document.summary.stale_entries)
    text += fmt::format("\nstale: {} passes now; remove the entry\n", entry);
  if (!text.empty()) text += "\n";
  text += summary_text(document) + "\n";
  if (!document.run.complete && !document.run.command.empty())
    text += fmt::format("`{}` goes on with it\n", completing_command(document.run));
  return text;
}

}  // namespace suite::runner
