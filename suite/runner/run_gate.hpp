// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What decides which failures of a run are new: the known issues, then the baseline, then the
// edition that the gate holds.
#pragma once

#include <optional>
#include <string>

#include "suite/expectations/edition.hpp"
#include "suite/expectations/known_issue_gate.hpp"
#include "suite/results/record.hpp"
#include "suite/runner/earlier_run.hpp"
#include "suite/runner/options.hpp"
#include "suite/runner/suite_parts.hpp"

namespace suite::runner {

/// What --baseline and --edition name.
struct Allowances {
  std::string baseline_place;
  std::optional<results::Document> baseline;
  std::optional<expectations::Edition> edition;
};
/// Reads both. A baseline that is not complete, and an edition that does not exist, are refused.
[[nodiscard]] Checked<Allowances> load_allowances(const Options& options);

class RunGate {
 public:
  RunGate(expectations::KnownIssues known, const Allowances& allowances,
          const results::IutRecord& iut);

  /// As expectations::Gate; a new failure is known if the baseline has the same, or if only a later
  /// edition judges it.
  [[nodiscard]] results::Gate judge(const results::CaseRecord& record, std::uint32_t attempt) const;
  [[nodiscard]] bool is_known_kernel_message(const std::string& excerpt) const {
    return known_.known_kernel_message(excerpt) != nullptr;
  }
  /// Gathers the findings of the run and judges them, and adds listed ones that no longer show to the
  /// stale entries.
  void judge_findings(results::Document& document) const;

 private:
  [[nodiscard]] results::Gate judge(const results::FindingRecord& finding) const;
  template <typename Judged, typename... Attempt>
  [[nodiscard]] results::Gate judge_all(const Judged& judged, Attempt... attempt) const;
  expectations::Gate known_;
  std::optional<expectations::Gate> baseline_;
  std::optional<expectations::Edition> edition_;
};

}  // namespace suite::runner
