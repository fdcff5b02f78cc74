// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which rules something judges: joined from the catalogue, the case table, the deviations and the
// analyzer, never typed.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "rules/catalogue.hpp"
#include "suite/jobs/exit_code.hpp"
#include "suite/runner/suite_parts.hpp"

namespace suite::runner {

/// What there is for one rule.
struct RuleChecks {
  std::vector<const cases::Case*> cases;
  std::vector<const rnic::deviants::DeviationInfo*> deviations;
  bool in_captures = false;  ///< the analyzer looks for breaches of it

  [[nodiscard]] bool is_judged() const { return in_captures || !cases.empty(); }
};
using ChecksByRule = std::map<std::string_view, RuleChecks>;
[[nodiscard]] ChecksByRule checks_of(const SuiteParts& parts);

/// Why a rule with `needs` is judged by nothing.
[[nodiscard]] std::string_view why_out_of_reach();

/// Prints RFC and section by level and way of checking: how many rules, how many of them judged.
[[nodiscard]] jobs::ExitCode print_coverage(const SuiteParts& parts);
/// Prints every rule with its number of cases and deviations.
[[nodiscard]] jobs::ExitCode print_rules(const SuiteParts& parts);
/// Prints every registered cause of a Terminate with the case that provokes it, or why none can.
[[nodiscard]] jobs::ExitCode print_terminate_matrix();

}  // namespace suite::runner
