// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations by cases: the cases that each deviation of the reference RNIC made fail, at which
// rule, and where the exchange first differed.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "suite/runner/test_bed.hpp"

namespace suite::self_test {

/// One case that a deviation made fail (or that ended in error under it).
struct Failure {
  std::string id;                  ///< of the case, variant included
  std::vector<std::string> rules;  ///< of the expectations that failed; empty for an error
  std::string reason;
  /// The first line of the exchange that differs from that of the conforming run
  std::string divergence;
  bool error = false;
};

struct DeviationResult {
  const rnic::deviants::DeviationInfo* info = nullptr;
  /// The rule at which it must be noticed: its own, or one that it breaks as well (also_breaks.def).
  std::string_view rule;
  std::size_t cases_run = 0;
  std::size_t not_applicable = 0;   ///< of cases_run
  std::vector<Failure> own;         ///< at an expectation that names the rule
  std::vector<Failure> collateral;  ///< elsewhere

  [[nodiscard]] bool at_own_rule() const { return rule == info->rule; }
  /// Some cases could notice it, but none of them is applicable on this link.
  [[nodiscard]] bool out_of_reach() const { return cases_run > 0 && not_applicable == cases_run; }
};

/// The rules that a case judges on the conforming reference.
struct CaseJudgement {
  std::vector<std::string_view> aim;   ///< the rules in its head
  std::set<std::string> judged;        ///< named by an expectation that was evaluated
  std::vector<std::string> in_frames;  ///< evaluated by the judge on what the IUT sent
  bool applies = true;                 ///< on this link
};

struct Matrix {
  std::vector<DeviationResult> deviations;
  std::map<std::string, CaseJudgement> cases;  ///< by id: those that were run
  /// Cases that do not pass on the conforming reference, with the reason
  std::vector<std::string> broken;
};

struct Plan {
  runner::WorkerSetup setup;  ///< strict; deviations are filled in
  bool every_case = false;    ///< else only the cases of the deviation's rules
  bool complete = false;      ///< ... and others for cases that none of those made fail
  /// One case that notices a deviation at its rule is enough: over TCP each takes its deadline.
  bool until_noticed = false;
  std::vector<std::string> chosen;  ///< names of deviations; empty: all
  unsigned shard = 1, shards = 1;
  std::function<void(const DeviationResult&)> progress;  ///< after each deviation
  /// After each case: the deviation (null: none) with which it ran, and its whole record.
  std::function<void(const rnic::deviants::DeviationInfo*, const cases::Case&,
                     const cases::CaseOutcome&)>
      observe;
};

/// The error is one line: the test bed could not be made.
[[nodiscard]] std::expected<Matrix, std::string> run_matrix(const runner::SuiteParts& parts,
                                                            const Plan& plan);

/// Case bodies (variants folded) of the table that apply on this link and that no deviation of the
/// matrix made fail.
[[nodiscard]] std::vector<std::string> never_failed(const runner::SuiteParts& parts,
                                                    const Matrix& matrix);

}  // namespace suite::self_test
