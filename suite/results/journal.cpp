// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/results/journal.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "base/record/json_reader.hpp"
#include "suite/results/record_tables.hpp"

namespace suite::results {

namespace fs = std::filesystem;

namespace {

// What the lines of a journal add up to.
struct Gathered {
  Journal journal;
  bool begun = false, ended = false;
  /// With the result of the gate.
  std::vector<FindingRecord> compared;

  void take(JournalLine line) {
    Document& document = journal.document;
    if (line.run) {
      document.run = std::move(*line.run);
      begun = true;
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

// The fault of this line; nothing if it was accepted.
std::optional<std::string> fault_of(const std::string& text, Gathered& gathered) {
  const Json json = Json::parse(text, nullptr, false);
  JournalLine line;
  if (json.is_discarded() || !json.is_object()) return "this line is not what a run writes";
  // Additions of a later version of the format are ignored.
  const auto fault = base::record::from_json(json, line, {.refuse_unknown = false});
  if (fault) return fault->text;
  if (!line.run && !line.attempt && !line.end) return "this line is not what a run writes";
  gathered.take(std::move(line));
  return std::nullopt;
}

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
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return std::unexpected(
        fmt::format("cannot read {}: {}", path.string(), std::generic_category().message(errno)));
  }
  Gathered gathered;
  std::optional<Problem> torn;  // of a line after which no whole one has come so far
  std::uint64_t read = 0;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (file.eof()) break;  // no newline at its end: torn when the run was killed
    read += line.size() + 1;
    const auto fault = fault_of(line, gathered);
    if (!fault && torn) return std::unexpected(*torn);
    if (!fault) gathered.journal.whole = read;
    if (fault && !torn) torn = fmt::format("{}:{}: {}", path.string(), number, *fault);
  }
  if (!gathered.begun && torn) return std::unexpected(*torn);
  if (!gathered.begun) return std::unexpected(fmt::format("{} holds no run", path.string()));
  if (!gathered.ended) mark_as_killed(gathered.journal.document.run);
  Document& document = gathered.journal.document;
  document.summary = summarise(document.cases);
  document.findings =
      gathered.ended ? std::move(gathered.compared) : gather_findings(document.cases);
  document.summary.findings = document.findings.size();
  return std::move(gathered.journal);
}

bool holds_a_run(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / journal_name, error) || fs::exists(folder / document_name, error);
}

}  // namespace suite::results
