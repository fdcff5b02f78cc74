// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which rules are judged: by the expectations that a run has evaluated, and by the judge on its
// frames. The rules in the head of a case are its aim and do not count as judged.
#pragma once

#include <expected>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rules/catalogue.hpp"
#include "suite/jobs/exit_code.hpp"
#include "suite/runner/self_test_record.hpp"
#include "suite/runner/suite_parts.hpp"

namespace suite::runner {

/// Rules by case id.
using RulesByCase = std::map<std::string, std::set<std::string>>;

/// What a run has evaluated, and what was seen to fail it.
struct Evaluated {
  RulesByCase judged;     ///< by case id: rules named by expectations that were evaluated
  RulesByCase in_frames;  ///< by case id: rules that the judge evaluated on the IUT's frames
  std::map<std::string, SeenToFail> seen_to_fail;  ///< by case id and rule
};
/// By the conforming reference, as the self-test of this build has seen it.
[[nodiscard]] Evaluated evaluated_by_self_test();
/// By the run in this folder. The error is one line.
[[nodiscard]] std::expected<Evaluated, std::string> evaluated_in(
    const std::filesystem::path& folder);

/// What checks one rule.
struct RuleChecks {
  std::vector<const cases::Case*> aims;  ///< cases that name it in their heads
  std::vector<const rnic::deviants::DeviationInfo*> deviations;
  bool in_captures = false;               ///< the analyzer checks it
  std::vector<std::string> judged_by;     ///< cases that evaluated an expectation of it
  std::size_t in_frames = 0;              ///< cases in which the judge evaluated it
  std::set<std::string> seen_to_fail_by;  ///< what made such an expectation fail

  [[nodiscard]] bool is_judged() const { return in_frames > 0 || !judged_by.empty(); }
  /// Judged, and by something that has been seen to fail. This holds for the checks of the
  /// analyzer: its corpus breaks each of their rules.
  [[nodiscard]] bool is_credited() const {
    return in_frames > 0 || (!judged_by.empty() && !seen_to_fail_by.empty());
  }
};
using ChecksByRule = std::map<std::string_view, RuleChecks>;
[[nodiscard]] ChecksByRule checks_of(const SuiteParts& parts, const Evaluated& evaluated);
/// "actively", "by frames", "at the API" or "not", several joined.
[[nodiscard]] std::string how_judged(const rules::Rule& rule, const RuleChecks& checks);

/// Why a rule with `needs` is not judged.
[[nodiscard]] std::string_view why_out_of_reach();

/// Prints for each RFC and section, by level and way of checking, the number of rules and of judged
/// ones.
[[nodiscard]] jobs::ExitCode print_coverage(const SuiteParts& parts, const Evaluated& evaluated);
/// Prints every rule: how it is judged, by how many cases, and what has been seen to fail it.
[[nodiscard]] jobs::ExitCode print_rules(const SuiteParts& parts, const Evaluated& evaluated);
/// Prints every registered cause of a Terminate with the case that provokes it, or why none can.
[[nodiscard]] jobs::ExitCode print_terminate_matrix();

}  // namespace suite::runner
