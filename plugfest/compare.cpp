// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/compare.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/standard_streams.hpp"
#include "plugfest/gate.hpp"
#include "suite/jobs/progress.hpp"

namespace plugfest {

using suite::jobs::ExitCode;

namespace {

using nlohmann::json;

struct Ending {
  std::string how, reason;
  bool bad = false;
};

std::string gate_of(const json& cell) { return cell.at("gate").at("result").get<std::string>(); }

Ending ending_of(const json& cell) {
  if (cell.value("varies", false)) return {"known to vary", ""};
  Ending made{.how = cell.at("verdict").get<std::string>(),
              .reason = cell.value("reason", ""),
              .bad = false};
  const auto verdict = base::record::find<Verdict>(made.how);
  made.bad = verdict && is_bad(*verdict);
  if (cell.value("advisory", false)) made.how = "advisory";
  if (made.bad) made.how += gate_of(cell) == "new_failure" ? " (new)" : " (expected)";
  return made;
}

/// Of each cell the attempt that counts.
std::map<std::string, Ending> endings(const json& results) {
  std::map<std::string, Ending> all;
  for (const json& cell : results.at("cells"))
    if (gate_of(cell) != "superseded") all[cell.at("id").get<std::string>()] = ending_of(cell);
  return all;
}

}  // namespace

std::vector<Difference> differences(const json& before, const json& after) {
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

std::expected<json, std::string> load_results(const std::filesystem::path& folder) {
  const auto file = folder / "results.json";
  const auto wrong = [&](std::string_view what) {
    return std::unexpected(fmt::format("{}: {}", file.string(), what));
  };
  std::ifstream text(file);
  if (!text) return wrong("cannot be read; give the --out folder of a run that has ended");
  json results = json::parse(text, nullptr, false);
  if (!results.is_object() || !results.contains("plugfest"))
    return wrong("these are no results of a plugfest");
  if (results["plugfest"] != format_version)
    return wrong("another version of this program wrote these results: compare them with that one");
  try {
    static_cast<void>(endings(results));
  } catch (const json::exception&) {
    return wrong("these are no results of a plugfest: a cell lacks what each one has");
  }
  return results;
}

ExitCode compare_runs(const std::filesystem::path& before, const std::filesystem::path& after) {
  const auto first = load_results(before), second = load_results(after);
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
            std::max(endings(*first).size(), endings(*second).size()));
  return found.empty() ? ExitCode::good : ExitCode::new_failure;
}

}  // namespace plugfest
