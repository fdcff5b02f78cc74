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

Ending ending_of(const ListedCell& cell) {
  if (cell.varies) return {"known to vary", ""};
  const Outcome& outcome = cell.record.outcome;
  Ending made{.how = outcome.advisory ? "advisory" : name(outcome.verdict),
              .reason = outcome.reason,
              .bad = is_bad(outcome.verdict)};
  if (made.bad) made.how += cell.gate.result == GateResult::new_failure ? " (new)" : " (expected)";
  return made;
}

}  // namespace

void add(Endings& endings, const ListedCell& cell) {
  if (cell.gate.result != GateResult::superseded) endings[cell.record.id] = ending_of(cell);
}

std::vector<Difference> differences(const Endings& before, const Endings& after) {
  std::set<std::string> ids;
  for (const auto* run : {&before, &after})
    for (const auto& [id, ending] : *run) ids.insert(id);
  const auto at = [](const Endings& run, const std::string& id) {
    const auto found = run.find(id);
    return found == run.end() ? Ending{"not played", ""} : found->second;
  };
  std::vector<Difference> all;
  for (const std::string& id : ids) {
    const Ending was = at(before, id), is = at(after, id);
    if (was.how == is.how) continue;
    all.push_back({id, was.how, is.how, was.bad && !is.bad ? was.reason : is.reason});
  }
  return all;
}

std::expected<Endings, std::string> load_endings(const std::filesystem::path& folder) {
  const auto file = folder / suite::results::document_name;
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    return std::unexpected(file.string() +
                           " cannot be read; give the --out folder of a run that has ended");
  Endings endings;
  const auto take = [&endings](ListedCell cell) { add(endings, cell); };
  const auto rest = base::record::read_file<Document, ListedCell>(
      file, fmt::format("results of a plugfest in format {}", format_version), cells_name, take,
      {.refuse_unknown = false});
  if (!rest) return std::unexpected(rest.error());
  return endings;
}

ExitCode compare_runs(const std::filesystem::path& before, const std::filesystem::path& after) {
  const auto first = load_endings(before), second = load_endings(after);
  for (const auto* run : {&first, &second})
    if (!run->has_value()) {
      base::say(stderr, "rnic-plugfest: {}\n", run->error());
      return ExitCode::usage;
    }
  const auto found = differences(*first, *second);
  for (const Difference& one : found)
    base::say(stdout, "{}: {} -> {}{}{}\n", suite::jobs::for_terminal(one.cell),
              suite::jobs::for_terminal(one.before), suite::jobs::for_terminal(one.after),
              one.reason.empty() ? "" : "\n    ", suite::jobs::for_terminal(one.reason));
  base::say(stdout, "{} of {} cells differ\n", found.size(),
            std::max(first->size(), second->size()));
  return found.empty() ? ExitCode::good : ExitCode::new_failure;
}

}  // namespace plugfest
