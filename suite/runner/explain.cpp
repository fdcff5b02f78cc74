// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/explain.hpp"

#include <algorithm>
#include <filesystem>
#include <ranges>

#include <fmt/format.h>

#include "base/did_you_mean.hpp"
#include "base/shipped_file.hpp"
#include "base/standard_streams.hpp"
#include "suite/cases/renamed_cases.hpp"
#include "suite/expectations/expectations_file.hpp"
#include "suite/runner/coverage.hpp"

namespace suite::runner {

using jobs::ExitCode;

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

// Lines on the implementations that are known to break a rule: which IUT, in which case, and what
// it does.
std::vector<std::string> offenders(const std::string& rule) {
  const auto anything = [](const std::string&) { return true; };
  std::vector<std::string> lines;
  for (const fs::path& file : expectations_files()) {
    const auto known =
        expectations::load(file, {.is_case = anything, .is_rule = anything, .current_id = {}});
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

// What a rule says, in our words and in those of its RFC.
std::string words_of(const rules::Rule& rule) {
  std::string words(rule.text);
  if (!rule.quote.empty()) words += fmt::format("\n\n  \"{}\"", rule.quote);
  if (const std::string link = rules::href(rule); !link.empty()) words += "\n  " + link;
  return words;
}

template <typename List>
void print_list(const char* heading, const List& lines) {
  base::say(stdout, "{}{}\n", heading, lines.empty() ? ": none" : ":");
  for (const auto& line : lines) base::say(stdout, "  {}\n", line);
}

ExitCode explain_case(const cases::Case& one) {
  base::say(stdout, "{}\n{}, {}\n", one.id, one.title, one.file);
  if (!one.variant.empty()) base::say(stdout, "variant: {}\n", one.variant);
  if (one.configuration != cases::Configuration{})
    base::say(stdout, "configuration: {}\n", one.configuration.text());
  for (const std::string_view id : one.rules) {
    const rules::Rule* rule = rules::find(id);
    if (rule == nullptr) continue;  // a rule of a test's own
    base::say(stdout, "\n{}\n{}, {}\n{}\n", rule->id, rules::place(*rule), rules::name(rule->level),
              words_of(*rule));
  }
  base::say(stdout, "\nalone: {} run --select '{}'\n", base::typed_command(), one.id);
  return ExitCode::good;
}

}  // namespace

ExitCode explain(const SuiteParts& parts, const std::string& id) {
  const rules::Rule* rule = rules::find(id);
  if (rule == nullptr) {
    if (const cases::Case* one = parts.find(cases::current_id(id))) return explain_case(*one);
    std::vector<std::string> known;
    for (const rules::Rule& each : rules::all()) known.emplace_back(each.id);
    for (const cases::Case& each : parts.table) known.push_back(each.id);
    base::say(stderr,
              "rnic-suite: there is no rule and no case '{0}'{1}; `{2} coverage --rules` and "
              "`{2} list` show them\n",
              id, base::did_you_mean(id, known), base::typed_command());
    return ExitCode::usage;
  }
  base::say(stdout, "{}\n{}, {}, binds: {}, checked: {}\n\n{}\n", rule->id, rules::place(*rule),
            rules::name(rule->level), rule->binds, rules::how_checked(*rule), words_of(*rule));
  if (!rule->needs.empty()) base::say(stdout, "\n{}\n", why_out_of_reach());
  if (!rule->reason.empty())
    base::say(stdout, "\n{}: {}\n", rules::is_testable(*rule) ? "limit" : "not testable",
              rule->reason);
  const RuleChecks checks = checks_of(parts, evaluated_by_self_test())[rule->id];
  std::vector<std::string> cases, deviations;
  for (const cases::Case* one : checks.aims)
    cases.push_back(fmt::format("{} ({})", one->id, one->file));
  for (const auto* info : checks.deviations)
    deviations.push_back(fmt::format("{} - {}", info->name, info->text));
  base::say(stdout, "\n");
  print_list("cases", cases);
  base::say(stdout, "in captures: {}\n",
            checks.in_captures ? "rnic-lint checks it" : "not checked");
  base::say(stdout, "judged, of the conforming reference: {}\n", how_judged(*rule, checks));
  print_list("seen to fail by", checks.seen_to_fail_by);
  print_list("deviations", deviations);
  print_list("known offenders", offenders(id));
  return ExitCode::good;
}

}  // namespace suite::runner
