// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/results/journal.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "suite/results/record_tables.hpp"

namespace suite::results {

namespace fs = std::filesystem;

namespace {

// What the lines of a journal add up to.
struct Gathered {
  Journal journal;
  bool ended = false;
  /// With the result of the gate.
  std::vector<FindingRecord> compared;

  void take(JournalLine line) {
    Document& document = journal.document;
    if (line.run) {
      document.run = std::move(*line.run);
      ended = false;
    } else if (line.attempt) {
      document.cases.push_back(std::move(*line.attempt));
      journal.sessions.push_back(std::max<std::size_t>(document.run.sessions.size(), 1) - 1);
    } else {
      document.run = std::move(line.end->run);
      compared = std::move(line.end->findings);
      ended = true;
    }
  }
};

void mark_as_killed(RunRecord& run) {
  run.complete = false;
  run.ending = Ending::killed;
  run.exit_code.reset();
  run.ending_reason = "the run was killed; its results were collected afterwards";
  if (run.sessions.empty()) return;
  run.sessions.back().ending = Ending::killed;
  run.sessions.back().ending_reason = "killed";
}

}  // namespace

Result<Journal> read_journal(const fs::path& path) {
  Gathered gathered;
  const auto take = [&](JournalLine line) -> std::optional<std::string> {
    gathered.take(std::move(line));
    return std::nullopt;
  };
  const auto whole = read_records<JournalLine>(path, take);
  if (!whole) return std::unexpected(whole.error());
  gathered.journal.whole = *whole;
  if (!gathered.ended) mark_as_killed(gathered.journal.document.run);
  Document& document = gathered.journal.document;
  document.summary = summarise(document.cases);
  document.findings =
      gathered.ended ? std::move(gathered.compared) : gather_findings(document.cases);
  document.summary.findings = document.findings.size();
  return std::move(gathered.journal);
}

}  // namespace suite::results
