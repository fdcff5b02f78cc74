// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the self-test has derived: what each case evaluates on a conforming implementation, and
// which faults made it fail, at which rules.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace suite::runner {

/// Names of deviations, or of faults of DAT calls, by case id.
using SeenToFail = std::map<std::string, std::vector<std::string>>;

/// Rules by case id.
using RulesByCase = std::map<std::string, std::set<std::string>>;

struct SelfTestRecord {
  SeenToFail by_case;
  /// By case id and rule: what made an expectation of this rule fail in this case.
  std::map<std::string, SeenToFail> by_rule;
  RulesByCase judged;     ///< named by expectations that were evaluated
  RulesByCase in_frames;  ///< evaluated by the judge on what the IUT sent

  void merge(SelfTestRecord other);
};

/// What `rnic-self-test --out` or dat_self_test.py wrote; empty if there is no such file or it is
/// incomplete.
[[nodiscard]] SelfTestRecord load_self_test(const std::filesystem::path& file);
/// Loads both records that the build derives.
[[nodiscard]] SelfTestRecord load_self_tests();

}  // namespace suite::runner
