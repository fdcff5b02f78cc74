// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/explain.hpp"

#include <algorithm>
#include <filesystem>
#include <ranges>

#include <fmt/format.h>

#include "base/did_you_mean.hpp"
#include "base/shipped_file.hpp"
#include "suite/expectations/expectations_file.hpp"
#include "suite/runner/coverage.hpp"

namespace suite::runner {

namespace {

namespace fs = std::filesystem;

bool breaks(const expectations::Entry& entry, const std::string& rule) {
  return entry.rule == rule || std::ranges::find(entry.also, rule) != entry.also.end();
}

// The expectations files that we ship, in the order of their names.
std::vector<fs::path> expectations_files() {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(base::shipped_file("suite/expectations"), error))
    if (file.path().extension() == ".yaml") files.push_back(file.path());
  std::ranges::sort(files);
  return files;
}

// Lines on who is known to break a rule: of which IUT, in which case, and what it does.
std::vector<std::string> offenders(const std::string& rule) {
  const auto anything = [](const std::string&) { return true; };
  std::vector<std::string> lines;
  for (const fs::path& file : expectations_files()) {
    const auto known = expectations::load(file, {.is_case = anything, .is_rule = anything});
    if (!known) {
      lines.push_back(fmt::format("{} cannot be read: {}", file.filename().string(),
                                  known.error().empty() ? "" : known.error().front()));
      continue;
    }
    for (const expectations::Entry& entry : known->entries)
      if (breaks(entry, rule))
        lines.push_back(fmt::format("{} ({}) in {}: {}", entry.iut, entry.versions_text,
                                    entry.case_id, entry.reason));
  }
  return lines;
}

template <typename List>
void print_list(const char* heading, const List& lines) {
  fmt::print("{}{}\n", heading, lines.empty() ? ": none" : ":");
  for (const auto& line : lines) fmt::print("  {}\n", line);
}

}  // namespace

ExitCode explain(const SuiteParts& parts, const std::string& id) {
  const rules::Rule* rule = rules::find(id);
  if (rule == nullptr) {
    fmt::print(stderr,
               "rnic-suite: there is no rule '{}'{}; `rnic-suite coverage --rules` lists them\n",
               id, base::did_you_mean(id, rules::all() | std::views::transform(&rules::Rule::id)));
    return ExitCode::usage;
  }
  fmt::print("{}\n{}, {}, binds: {}, checked: {}\n\n{}\n", rule->id, rules::place(*rule),
             rules::name(rule->level), rule->binds, rules::how_checked(*rule), rule->text);
  if (!rule->needs.empty()) fmt::print("\n{}\n", why_out_of_reach());
  if (!rule->reason.empty())
    fmt::print("\n{}: {}\n", rules::is_testable(*rule) ? "limit" : "not testable", rule->reason);
  const RuleChecks checks = checks_of(parts)[rule->id];
  std::vector<std::string> cases, deviations;
  for (const cases::Case* one : checks.cases)
    cases.push_back(fmt::format("{} ({})", one->id, one->file));
  for (const auto* info : checks.deviations)
    deviations.push_back(fmt::format("{} - {}", info->name, info->text));
  fmt::print("\n");
  print_list("cases", cases);
  fmt::print("in captures: {}\n", checks.in_captures ? "rnic-lint looks for it" : "not looked for");
  print_list("deviations", deviations);
  print_list("known offenders", offenders(id));
  return ExitCode::good;
}

}  // namespace suite::runner
