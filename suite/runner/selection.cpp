// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/selection.hpp"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "base/did_you_mean.hpp"
#include "base/glob.hpp"
#include "rules/catalogue.hpp"

namespace suite::runner {

namespace {

bool matches(const std::string& pattern, const cases::Case& candidate) {
  return base::matches_glob(pattern, candidate.id);
}

bool judges(const cases::Case& candidate, const std::string& rule) {
  return std::ranges::find(candidate.rules, std::string_view(rule)) != candidate.rules.end();
}

// The cases of the DAT API are for DAT providers, and for who asks for them by name.
bool asks_for_dat(const Options& options) {
  return options.choice.kind == IutChoice::Kind::dat || options.command == Command::list ||
         !options.rules.empty() || std::ranges::any_of(options.select, [](const auto& pattern) {
           return pattern.starts_with("dat");
         });
}

// The first selector that matches no case at all, in one line.
std::optional<std::string> fault(std::span<const cases::Case> table, const Options& options) {
  for (const std::string& pattern : options.select) {
    if (std::ranges::none_of(table, [&](const auto& one) { return matches(pattern, one); })) {
      return fmt::format(
          "--select '{}' matches no case{}; --list shows them", pattern,
          base::did_you_mean(pattern, table | std::views::transform(&cases::Case::id)));
    }
  }
  for (const std::string& rule : options.rules) {
    if (rules::find(rule) == nullptr) {
      return fmt::format(
          "--rule: there is no rule '{}'{}; `rnic-suite coverage --rules` lists them", rule,
          base::did_you_mean(rule, rules::all() | std::views::transform(&rules::Rule::id)));
    }
    if (std::ranges::none_of(table, [&](const auto& one) { return judges(one, rule); })) {
      return fmt::format(
          "--rule: no case judges {}; `rnic-suite coverage --rules` shows which have one", rule);
    }
  }
  return std::nullopt;
}

}  // namespace

std::expected<std::vector<const cases::Case*>, std::string> select(
    std::span<const cases::Case> table, const Options& options,
    const std::vector<std::string>& failed) {
  if (const auto problem = fault(table, options)) return std::unexpected(*problem);
  const bool with_dat = asks_for_dat(options);
  std::vector<const cases::Case*> chosen;
  for (const cases::Case& one : table) {
    if (one.layer == "dat" && !with_dat) continue;
    const bool by_pattern =
        options.select.empty() || std::ranges::any_of(options.select, [&](const auto& pattern) {
          return matches(pattern, one);
        });
    const bool by_rule =
        options.rules.empty() ||
        std::ranges::any_of(options.rules, [&](const auto& rule) { return judges(one, rule); });
    const bool by_failure =
        !options.rerun_failed || std::ranges::find(failed, one.id) != failed.end();
    if (by_pattern && by_rule && by_failure) chosen.push_back(&one);
  }
  if (chosen.empty()) {
    return std::unexpected(
        options.rerun_failed ? "--rerun-failed: none of the cases chosen failed in the last run "
                               "in --out; run without it to judge them again"
                             : "no case fits --select and --rule together; leave one of them out");
  }
  return chosen;
}

}  // namespace suite::runner
