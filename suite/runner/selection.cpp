// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/selection.hpp"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/did_you_mean.hpp"
#include "base/glob.hpp"
#include "base/shipped_file.hpp"
#include "rules/catalogue.hpp"

namespace suite::runner {

namespace {

bool matches(const std::string& pattern, const cases::Case& candidate) {
  return base::matches_glob(pattern, candidate.id);
}

bool judges(const cases::Case& candidate, const std::string& pattern) {
  return std::ranges::any_of(candidate.rules, [&](std::string_view rule) {
    return base::matches_glob(pattern, std::string(rule));
  });
}

bool is_in(std::string_view section, const std::string& wanted) {
  return section == wanted || section.starts_with(wanted + ".");
}

// Whether the rule is of the RFC that was asked for, and of one of the sections if any were.
bool is_asked_for(const rules::Rule& rule, const Options& options) {
  if (rule.rfc != options.rfc) return false;
  return options.sections.empty() ||
         std::ranges::any_of(options.sections, [&](const std::string& wanted) {
           return is_in(rule.section, wanted);
         });
}

bool judges_asked_text(const cases::Case& candidate, const Options& options) {
  return std::ranges::any_of(candidate.rules, [&](std::string_view id) {
    const rules::Rule* rule = rules::find(id);
    return rule != nullptr && is_asked_for(*rule, options);
  });
}

// The options that choose cases, as somebody has given them, and what to do if none fits.
std::string choices_of(const Options& options) {
  std::vector<std::string_view> given;
  if (!options.select.empty()) given.emplace_back("--select");
  if (!options.rules.empty()) given.emplace_back("--rule");
  if (options.rfc) given.emplace_back(options.sections.empty() ? "--rfc" : "--rfc with --section");
  if (given.empty()) given.emplace_back("this IUT");
  if (given.size() > 1)
    return fmt::format("{} together; leave one of them out", fmt::join(given, " and "));
  return fmt::format("{}; `{} coverage --rules` shows how each rule is judged",
                     fmt::join(given, ""), base::typed_command());
}

// What is wrong with --rfc and --section.
std::optional<std::string> fault_of_text(const Options& options) {
  if (!options.rfc) return std::nullopt;
  const auto of_it = [&](const rules::Rule& rule) { return rule.rfc == *options.rfc; };
  if (std::ranges::none_of(rules::all(), of_it))
    return fmt::format("--rfc: there is no rule of RFC {}; `{} coverage` shows which have",
                       *options.rfc, base::typed_command());
  for (const std::string& wanted : options.sections) {
    const bool there = std::ranges::any_of(rules::all(), [&](const rules::Rule& rule) {
      return of_it(rule) && is_in(rule.section, wanted);
    });
    if (!there)
      return fmt::format(
          "--section: there is no rule of section {} of RFC {}; `{} coverage` shows which have",
          wanted, *options.rfc, base::typed_command());
  }
  return std::nullopt;
}

// Cases of an API of DAT run only for its providers, and if they are selected by name.
bool asks_for(std::string_view api, IutChoice::Kind provider, const Options& options) {
  return options.choice.kind == provider || options.command == Command::list ||
         !options.rules.empty() || options.rfc ||
         std::ranges::any_of(options.select,
                             [api](const auto& pattern) { return pattern.starts_with(api); });
}

// The layers of which no case runs.
std::vector<std::string_view> layers_without(std::span<const cases::Case> table,
                                             const Options& options) {
  std::vector<std::string_view> without;
  if (!asks_for("dat", IutChoice::Kind::dat, options)) without.emplace_back("dat");
  if (!asks_for("kdat", IutChoice::Kind::kdat, options)) without.emplace_back("kdat");
  // What kdat does on the wire is its device's: no agent drives the wire through it. And the wire of
  // rdma_rxe is not iWARP's.
  const bool api_alone = options.choice.kind == IutChoice::Kind::kdat || options.choice.over_roce;
  const std::string_view own = options.choice.kind == IutChoice::Kind::kdat     ? "kdat"
                               : options.choice.kind == IutChoice::Kind::kverbs ? "loopback"
                                                                                : "dat";
  if (api_alone && options.command != Command::list)
    for (const cases::Case& one : table)
      if (one.layer != own) without.push_back(one.layer);
  return without;
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
    if (std::ranges::none_of(rules::all(), [&](const rules::Rule& one) {
          return base::matches_glob(rule, std::string(one.id));
        })) {
      return fmt::format(
          "--rule: there is no rule '{}'{}; `{} coverage --rules` lists them", rule,
          base::did_you_mean(rule, rules::all() | std::views::transform(&rules::Rule::id)),
          base::typed_command());
    }
    if (std::ranges::none_of(table, [&](const auto& one) { return judges(one, rule); })) {
      return fmt::format("--rule: no case judges {}; `{} coverage --rules` shows which have one",
                         rule, base::typed_command());
    }
  }
  return std::nullopt;
}

}  // namespace

std::expected<std::vector<const cases::Case*>, std::string> select(
    std::span<const cases::Case> table, const Options& options,
    const std::vector<std::string>& failed) {
  if (const auto problem = fault(table, options)) return std::unexpected(*problem);
  if (const auto problem = fault_of_text(options)) return std::unexpected(*problem);
  const auto without = layers_without(table, options);
  std::vector<const cases::Case*> chosen;
  std::size_t place = 0;
  for (const cases::Case& one : table) {
    if (std::ranges::find(without, one.layer) != without.end()) continue;
    const bool by_pattern =
        options.select.empty() || std::ranges::any_of(options.select, [&](const auto& pattern) {
          return matches(pattern, one);
        });
    const bool by_rule =
        options.rules.empty() ||
        std::ranges::any_of(options.rules, [&](const auto& rule) { return judges(one, rule); });
    const bool by_text = !options.rfc || judges_asked_text(one, options);
    const bool by_failure =
        !options.rerun_failed || std::ranges::find(failed, one.id) != failed.end();
    if (!by_pattern || !by_rule || !by_text || !options.shard.has(place++)) continue;
    if (by_failure) chosen.push_back(&one);
  }
  if (place > 0 && place < options.shard.count)
    return std::unexpected(
        fmt::format("--shard {}: there are only {} cases; choose as many shards at most",
                    options.shard.text(), place));
  if (chosen.empty()) {
    return std::unexpected(options.rerun_failed
                               ? "--rerun-failed: none of the cases chosen failed in the last run "
                                 "in --out; run without it to judge them again"
                               : "no case fits " + choices_of(options));
  }
  return chosen;
}

}  // namespace suite::runner
