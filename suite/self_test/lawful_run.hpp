// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The cases against the reference RNIC with lawful variants: none may fail, since each set of
// variants conforms.
//
// A case passes, with advisories or without; or it is not applicable, because it needs something
// that the variants remove from the hello of the IUT; or its verdict is the same as without them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reference_rnic/lawful/lawful.hpp"
#include "suite/runner/test_bed.hpp"

namespace suite::self_test {

using LawfulSet = std::vector<rnic::lawful::Lawful>;

/// `+`-separated names.
[[nodiscard]] std::string name_of(const LawfulSet& set);

/// A running test bed, whose reference RNIC has these variants and the deviations of `setup`. The error
/// is one line.
[[nodiscard]] std::expected<std::unique_ptr<runner::TestBed>, std::string> test_bed_with(
    const runner::SuiteParts& parts, runner::WorkerSetup setup, const LawfulSet& set);

struct LawfulPlan {
  runner::WorkerSetup setup;  ///< variants are filled in
  std::vector<LawfulSet> sets;
  std::string select = "*";  ///< cases, by glob
  /// Called for each case that ran with a set, if given.
  std::function<void(const LawfulSet&, const cases::Case&, const cases::CaseOutcome&)> observe = {};
};

/// A case that a lawful set made fail, or gave another wrong verdict.
struct FalseVerdict {
  std::string id;
  std::string verdict;
  std::vector<std::string> rules;  ///< of the expectations that failed
  std::string reason;
};

struct LawfulResult {
  LawfulSet set;
  std::size_t cases_run = 0;
  std::size_t not_applicable = 0;  ///< because they need what the set removes
  std::size_t changed = 0;         ///< cases whose exchange differs from the one without variants
  std::vector<FalseVerdict> wrong;
};

/// Each variant by itself.
[[nodiscard]] std::vector<LawfulSet> single_variants();
/// `count` sets of two to six variants, drawn by `seed`: equal seeds give equal sets.
[[nodiscard]] std::vector<LawfulSet> random_sets(std::size_t count, unsigned seed);

/// The vendor's PICS denies what the traits of the reference remove from its hello, compared with
/// `usual`. The names: capabilities, and limits that are lower.
std::vector<std::string> deny_what_is_missing(const iut::Hello& usual,
                                              cases::Environment& environment);

/// The error is one line: the test bed could not be made.
[[nodiscard]] std::expected<std::vector<LawfulResult>, std::string> run_lawful(
    const runner::SuiteParts& parts, const LawfulPlan& plan,
    const std::function<void(const LawfulResult&)>& progress);

}  // namespace suite::self_test
