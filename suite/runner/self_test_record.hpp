// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the self-test has derived: what each case evaluates on a conforming implementation, and
// which faults made it fail, at which rules. `rnic-self-test --out` and dat_self_test.py write it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/record/table.hpp"

namespace suite::runner {

/// Names of deviations, or of faults of DAT calls, by case id or by rule.
using SeenToFail = std::map<std::string, std::vector<std::string>>;

struct SelfTestRecord {
  /// A case that a deviation made fail at another rule than its own.
  struct Collateral {
    std::string case_id;
    std::vector<std::string> rules;  ///< of the expectations that failed; none for an error
    std::string reason;
    std::string divergence;  ///< the first line of the exchange that differs
    bool error = false;
  };
  /// What a deviation did to the cases of one rule that it breaks.
  struct BrokenRule {
    std::string rule, text;
    std::uint64_t cases_run = 0;
    std::vector<std::string> caught_by;  ///< cases that failed at the rule
    std::vector<Collateral> collateral;
  };
  struct Deviation {
    BrokenRule own;
    std::map<std::string, BrokenRule> also_breaks;  ///< by rule
  };
  /// The rules that a case judges on a conforming implementation.
  struct CaseRules {
    std::vector<std::string> aim;        ///< in its head
    std::vector<std::string> judged;     ///< named by expectations that were evaluated
    std::vector<std::string> in_frames;  ///< evaluated by the judge on what the IUT sent
    bool applies = true;                 ///< on the link of the self-test
  };

  std::map<std::string, Deviation> deviations;  ///< by name; none for the cases of the DAT API
  SeenToFail seen_to_fail_by;                   ///< by case
  /// By case and rule: what made an expectation of this rule fail in this case.
  std::map<std::string, SeenToFail> seen_to_fail_at;
  std::map<std::string, CaseRules> cases;  ///< by id

  void merge(SelfTestRecord other);
};

constexpr auto table_of(const SelfTestRecord::Collateral*) {
  using base::record::required;
  using Record = SelfTestRecord::Collateral;
  return base::record::table("collateral", required("case", &Record::case_id),
                             required("rules", &Record::rules), required("reason", &Record::reason),
                             required("divergence", &Record::divergence),
                             required("error", &Record::error));
}
constexpr auto table_of(const SelfTestRecord::BrokenRule*) {
  using base::record::required;
  using Record = SelfTestRecord::BrokenRule;
  return base::record::table(
      "broken_rule", required("rule", &Record::rule), required("text", &Record::text),
      required("cases_run", &Record::cases_run), required("caught_by", &Record::caught_by),
      required("collateral", &Record::collateral));
}
constexpr auto table_of(const SelfTestRecord::Deviation*) {
  using Record = SelfTestRecord::Deviation;
  return base::record::table("deviation", base::record::inlined(&Record::own),
                             base::record::required("also_breaks", &Record::also_breaks));
}
constexpr auto table_of(const SelfTestRecord::CaseRules*) {
  using base::record::required;
  using Record = SelfTestRecord::CaseRules;
  return base::record::table(
      "case", required("aim", &Record::aim), required("judged", &Record::judged),
      required("in_frames", &Record::in_frames), required("applies", &Record::applies));
}
constexpr auto table_of(const SelfTestRecord*) {
  using base::record::required;
  using Record = SelfTestRecord;
  return base::record::table(
      "self_test", base::record::defaulted("deviations", &Record::deviations),
      required("seen_to_fail_by", &Record::seen_to_fail_by),
      required("seen_to_fail_at", &Record::seen_to_fail_at), required("cases", &Record::cases));
}

/// Empty if there is no such file or it is incomplete.
[[nodiscard]] SelfTestRecord load_self_test(const std::filesystem::path& file);
/// Loads both records that the build derives.
[[nodiscard]] SelfTestRecord load_self_tests();

}  // namespace suite::runner
