// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/explain.hpp"

#include <algorithm>
#include <map>
#include <ranges>

#include <fmt/format.h>

#include "rules/catalogue.hpp"
#include "suite/cases/rdmap/terminate_matrix.hpp"
#include "suite/runner/did_you_mean.hpp"

namespace suite::runner {

namespace {

struct Checks {
  std::vector<const cases::Case*> cases;
  std::vector<const rnic::stream::DeviationInfo*> deviations;
};
using Coverage = std::map<std::string_view, Checks>;

constexpr const char* why_out_of_reach =
    "needs SCTP: it is about DDP over SCTP (RFC 5043), and the links between tester and IUT carry "
    "TCP only";

Coverage join(const SuiteParts& parts) {
  Coverage coverage;
  for (const cases::Case& one : parts.table) {
    for (const std::string_view rule : one.rules) coverage[rule].cases.push_back(&one);
  }
  for (const auto& info : rnic::stream::deviations())
    coverage[info.rule].deviations.push_back(&info);
  return coverage;
}

}  // namespace

ExitCode explain(const SuiteParts& parts, const std::string& id) {
  const rules::Rule* rule = rules::find(id);
  if (rule == nullptr) {
    fmt::print(stderr, "rnic-suite: there is no rule '{}'{}; `rnic-suite coverage` lists them\n",
               id, did_you_mean(id, rules::all() | std::views::transform(&rules::Rule::id)));
    return ExitCode::usage;
  }
  fmt::print("{}\n{}, {}, binds: {}, checked: {}\n\n{}\n", rule->id, rules::place(*rule),
             rules::name(rule->level), rule->binds, rules::how_checked(*rule), rule->text);
  if (!rule->needs.empty()) fmt::print("\n{}\n", why_out_of_reach);
  const Checks checks = join(parts)[rule->id];
  fmt::print("\ncases{}\n", checks.cases.empty() ? ": none" : ":");
  for (const cases::Case* one : checks.cases) fmt::print("  {} ({})\n", one->id, one->file);
  fmt::print("deviations{}\n", checks.deviations.empty() ? ": none" : ":");
  for (const auto* info : checks.deviations) fmt::print("  {} - {}\n", info->name, info->text);
  return ExitCode::good;
}

ExitCode print_coverage(const SuiteParts& parts) {
  Coverage coverage = join(parts);
  std::size_t testable = 0, covered = 0, need_sctp = 0;
  fmt::print("{:<60} {:>4} {:<9} {:<7} {:<10} {:>5} {:>10}\n", "rule", "RFC", "section", "level",
             "check", "cases", "deviations");
  for (const rules::Rule& rule : rules::all()) {
    const Checks& checks = coverage[rule.id];
    fmt::print("{:<60} {:>4} {:<9} {:<7} {:<10} {:>5} {:>10}\n", rule.id,
               rule.rfc == 0 ? "DAT" : std::to_string(rule.rfc), rule.section,
               rules::name(rule.level), rules::how_checked(rule), checks.cases.size(),
               checks.deviations.size());
    if (!rule.needs.empty()) ++need_sctp;
    if (!rules::is_testable(rule)) continue;
    ++testable;
    if (!checks.cases.empty()) ++covered;
  }
  fmt::print("\n{} rules, {} testable, {} of these judged by a case\n", rules::all().size(),
             testable, covered);
  fmt::print("{} of the others have a reason in the catalogue; {}: {}\n",
             rules::all().size() - testable - need_sctp, need_sctp, why_out_of_reach);
  return ExitCode::good;
}

ExitCode print_terminate_matrix() {
  const std::string_view row = "{:<10} {:<42} {:<74} {}\n";
  fmt::print(fmt::runtime(row), "cause", "what went wrong", "case", "note");
  std::size_t judged = 0;
  for (const cases::MatrixEntry& entry : cases::terminate_matrix()) {
    const std::string code = entry.any_code ? "ALL" : fmt::format("{:#04x}", entry.cause.code);
    const bool reached = !entry.case_id.empty();
    judged += reached ? 1 : 0;
    fmt::print(fmt::runtime(row),
               fmt::format("{}/{}/{}", entry.cause.layer, entry.cause.type, code), entry.name,
               reached ? entry.case_id : "none", entry.note);
  }
  fmt::print("\n{} registered causes, {} of these judged by a case\n",
             cases::terminate_matrix().size(), judged);
  return ExitCode::good;
}

}  // namespace suite::runner
