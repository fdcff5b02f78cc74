// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/self_test/api_fault_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/glob.hpp"
#include "suite/self_test/faulty_iut.hpp"

namespace suite::self_test {

namespace {

using cases::Case;
using cases::CaseOutcome;
using cases::Environment;
using cases::Judgement;
using cases::Verdict;
using Rules = std::set<std::string, std::less<>>;

/// A thing that only comes later in a case is seldom the one that matters.
constexpr unsigned most_tries = 24;

bool is_of_the_api(std::string_view rule) {
  return rule.starts_with("verbs.") || rule.starts_with("kmem.");
}

Rules rules_of(const Case& one) {
  Rules rules;
  for (const std::string_view rule : one.rules)
    if (is_of_the_api(rule)) rules.emplace(rule);
  return rules;
}

/// With strict judgement an advisory fails, so both count.
Rules failed_rules(const CaseOutcome& outcome) {
  Rules rules;
  for (const auto& record : outcome.expectations)
    if (record.judgement == Judgement::fail || record.judgement == Judgement::advisory)
      rules.insert(record.rule);
  return rules;
}

class FaultSearch {
 public:
  FaultSearch(const runner::SuiteParts& parts, const Case& one, Environment& right)
      : parts_(parts), case_(one), right_(right), wanted_(rules_of(one)) {}

  ApiFaultResult result() {
    ApiFaultResult result{.id = case_.id, .seen = {}, .unseen = {}, .broken = {}};
    const CaseOutcome outcome = parts_.execute(case_, right_);
    if (outcome.verdict == Verdict::not_applicable) return result;
    if (outcome.verdict != Verdict::pass) result.broken = outcome.reason;
    usual_ = failed_rules(outcome);
    for (const ApiFault& fault : api_faults()) try_fault(fault, result);
    result.unseen.assign(wanted_.begin(), wanted_.end());
    return result;
  }

 private:
  void try_fault(const ApiFault& fault, ApiFaultResult& result) {
    for (unsigned nth = 0; nth <= most_tries && !wanted_.empty(); ++nth) {
      FaultyIut wrong(right_.iut, fault, nth);
      Environment environment{right_.loop,           right_.tester,         wrong,
                              right_.iut_ipv4,       right_.iut_ipv6,       right_.iut_further,
                              right_.deadline_scale, right_.reply_deadline, right_.quiet_window,
                              right_.pics,           right_.strict};
      const CaseOutcome outcome = parts_.execute(case_, environment);
      if (!wrong.has_struck()) return;
      if (outcome.verdict != Verdict::fail) continue;
      for (const std::string& rule : failed_rules(outcome))
        if (!usual_.contains(rule) && wanted_.erase(rule) != 0)
          result.seen[rule] = fmt::format("{}#{}", fault.name, nth);
    }
  }

  const runner::SuiteParts& parts_;
  const Case& case_;
  Environment& right_;
  Rules wanted_, usual_;
};

}  // namespace

std::expected<std::vector<ApiFaultResult>, std::string> run_api_faults(
    const runner::SuiteParts& parts, const runner::WorkerSetup& setup, const std::string& select,
    const std::function<void(const ApiFaultResult&)>& progress) {
  auto test_bed = runner::make_test_bed(setup, parts);
  if (!test_bed) return std::unexpected(test_bed.error());
  if (const auto alive = (*test_bed)->revive(); !alive) return std::unexpected(alive.error());
  std::vector<ApiFaultResult> results;
  for (const Case& one : parts.table) {
    if (!base::matches_glob(select, one.id) || rules_of(one).empty()) continue;
    results.push_back(FaultSearch(parts, one, (*test_bed)->environment()).result());
    progress(results.back());
  }
  return results;
}

}  // namespace suite::self_test
