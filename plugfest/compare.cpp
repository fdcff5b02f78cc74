// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/compare.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/record/json_file.hpp"
#include "base/standard_streams.hpp"
#include "plugfest/gate.hpp"
#include "plugfest/record_tables.hpp"
#include "suite/jobs/progress.hpp"
#include "suite/results/run_folder.hpp"

namespace plugfest {

using suite::jobs::ExitCode;

namespace {

using suite::results::GateResult;

struct Ending {
  std::string how, reason;
  bool bad = false;
};

Ending ending_of(const ListedCell& cell) {
  if (cell.varies) return {"known to vary", ""};
  const Outcome& outcome = cell.record.outcome;
  Ending made{.how = outcome.advisory ? "advisory" : name(outcome.verdict),
              .reason = outcome.reason,
              .bad = is_bad(outcome.verdict)};
  if (made.bad) made.how += cell.gate.result == GateResult::new_failure ? " (new)" : " (expected)";
  return made;
}

/// Of each cell the attempt that counts.
std::map<std::string, Ending> endings(const std::vector<ListedCell>& cells) {
  std::map<std::string, Ending> all;
  for (const ListedCell& cell : cells)
    if (cell.gate.result != GateResult::superseded) all[cell.record.id] = ending_of(cell);
  return all;
}

}  // namespace

std::vector<Difference> differences(const std::vector<ListedCell>& before,
                                    const std::vector<ListedCell>& after) {
  const auto first = endings(before), second = endings(after);
  std::set<std::string> ids;
  for (const auto* run : {&first, &second})
    for (const auto& [id, ending] : *run) ids.insert(id);
  const auto at = [](const std::map<std::string, Ending>& run, const std::string& id) {
    const auto found = run.find(id);
    return found == run.end() ? Ending{"not played", ""} : found->second;
  };
  std::vector<Difference> all;
  for (const std::string& id : ids) {
    const Ending was = at(first, id), is = at(second, id);
    if (was.how == is.how) continue;
    all.push_back({id, was.how, is.how, was.bad && !is.bad ? was.reason : is.reason});
  }
  return all;
}

std::expected<Document, std::string> load_results(const std::filesystem::path& folder) {
  const auto file = folder / suite::results::document_name;
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    return std::unexpected(file.string() +
                           " cannot be read; give the --out folder of a run that has ended");
  return base::record::read_file<Document>(
      file, fmt::format("results of a plugfest in format {}", format_version),
      {.refuse_unknown = false});
}

ExitCode compare_runs(const std::filesystem::path& before, const std::filesystem::path& after) {
  const auto first = load_results(before), second = load_results(after);
  for (const auto* run : {&first, &second})
    if (!run->has_value()) {
      base::say(stderr, "rnic-plugfest: {}\n", run->error());
      return ExitCode::usage;
    }
  const auto found = differences(first->cells, second->cells);
  for (const Difference& one : found)
    base::say(stdout, "{}: {} -> {}{}{}\n", suite::jobs::for_terminal(one.cell),
              suite::jobs::for_terminal(one.before), suite::jobs::for_terminal(one.after),
              one.reason.empty() ? "" : "\n    ", suite::jobs::for_terminal(one.reason));
  base::say(stdout, "{} of {} cells differ\n", found.size(),
            std::max(endings(first->cells).size(), endings(second->cells).size()));
  return found.empty() ? ExitCode::good : ExitCode::new_failure;
}

}  // namespace plugfest
