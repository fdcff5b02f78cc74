// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/selection.hpp"

#include <fnmatch.h>

#include <algorithm>

#include <fmt/format.h>

#include "rules/catalogue.hpp"

namespace suite::runner {

namespace {

bool matches(const std::string& pattern, const cases::Case& candidate) {
  return ::fnmatch(pattern.c_str(), candidate.id.c_str(), 0) == 0;
}

bool judges(const cases::Case& candidate, const std::string& rule) {
  return std::ranges::find(candidate.rules, std::string_view(rule)) != candidate.rules.end();
}

// The first selector that matches no case at all, in one line.
std::optional<std::string> fault(std::span<const cases::Case> table, const Options& options) {
  for (const std::string& pattern : options.select) {
    if (std::ranges::none_of(table, [&](const auto& one) { return matches(pattern, one); })) {
      return fmt::format("--select '{}' matches no case; --list shows them", pattern);
    }
  }
  for (const std::string& rule : options.rules) {
    if (rules::find(rule) == nullptr) return fmt::format("--rule: there is no rule '{}'", rule);
    if (std::ranges::none_of(table, [&](const auto& one) { return judges(one, rule); })) {
      return fmt::format("--rule: no case judges {}", rule);
    }
  }
  return std::nullopt;
}

}  // namespace

std::expected<std::vector<const cases::Case*>, std::string> select(
    std::span<const cases::Case> table, const Options& options,
    const std::vector<std::string>& failed) {
  if (const auto problem = fault(table, options)) return std::unexpected(*problem);
  std::vector<const cases::Case*> chosen;
  for (const cases::Case& one : table) {
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
    return std::unexpected(options.rerun_failed ? "--rerun-failed: nothing to run again"
                                                : "no case fits all selectors");
  }
  return chosen;
}

}  // namespace suite::runner
