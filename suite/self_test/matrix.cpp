// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/self_test/matrix.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "reference_rnic/deviants/also_breaks.hpp"

namespace suite::self_test {

namespace {

using cases::Case;
using cases::CaseOutcome;
using cases::Judgement;
using cases::Verdict;

bool judges(const Case& one, std::string_view rule) {
  return std::ranges::find(one.rules, rule) != one.rules.end();
}

// With strict judgement an advisory fails, so both count as the place of the failure.
std::vector<std::string> failed_rules(const CaseOutcome& outcome) {
  std::set<std::string> rules;
  for (const auto& record : outcome.expectations)
    if (record.judgement == Judgement::fail || record.judgement == Judgement::advisory)
      rules.insert(record.rule);
  return {rules.begin(), rules.end()};
}

CaseJudgement judgement_of(const Case& one, const CaseOutcome& outcome) {
  CaseJudgement judgement{.aim = one.rules,
                          .judged = {},
                          .in_frames = outcome.judged_in_frames,
                          .applies = outcome.verdict != Verdict::not_applicable};
  for (const auto& record : outcome.expectations)
    if (record.judgement != Judgement::inconclusive) judgement.judged.insert(record.rule);
  return judgement;
}

std::string first_divergence(const CaseOutcome& right, const CaseOutcome& wrong) {
  const std::size_t common = std::min(right.exchange.size(), wrong.exchange.size());
  for (std::size_t i = 0; i < common; ++i) {
    const auto &a = right.exchange[i], &b = wrong.exchange[i];
    if (a.text != b.text || a.hex != b.hex || a.direction != b.direction)
      return fmt::format("line {}: '{}' in place of '{}'", i + 1, b.text, a.text);
  }
  if (wrong.exchange.size() < right.exchange.size())
    return fmt::format("line {}: nothing in place of '{}'", common + 1,
                       right.exchange[common].text);
  if (wrong.exchange.size() > right.exchange.size())
    return fmt::format("line {}: '{}' in place of nothing", common + 1,
                       wrong.exchange[common].text);
  return "at the IUT's API only";
}

using Baseline = std::map<std::string, CaseOutcome>;

std::expected<std::unique_ptr<runner::TestBed>, std::string> test_bed_with(
    const runner::SuiteParts& parts, const Plan& plan, std::string_view deviation) {
  runner::WorkerSetup setup = plan.setup;
  setup.deviations.clear();
  if (!deviation.empty()) setup.deviations.emplace_back(deviation);
  auto test_bed = runner::make_test_bed(setup, parts);
  if (!test_bed) return test_bed;
  if (const auto alive = (*test_bed)->revive(); !alive) return std::unexpected(alive.error());
  return test_bed;
}

void judge(const Case& one, const CaseOutcome& outcome, const Baseline& baseline,
           DeviationResult& result) {
  ++result.cases_run;
  if (outcome.verdict == Verdict::not_applicable) ++result.not_applicable;
  if (outcome.verdict == Verdict::pass || outcome.verdict == Verdict::not_applicable) return;
  Failure failure{.id = one.id,
                  .rules = failed_rules(outcome),
                  .reason = outcome.reason,
                  .divergence = first_divergence(baseline.at(one.id), outcome),
                  .error = outcome.verdict != Verdict::fail};
  // With strict judgement, a lawful variant may fail at the rule by itself.
  const std::vector<std::string> before = failed_rules(baseline.at(one.id));
  const bool own = !failure.error && std::ranges::find(before, result.rule) == before.end() &&
                   std::ranges::find(failure.rules, result.rule) != failure.rules.end();
  (own ? result.own : result.collateral).push_back(std::move(failure));
}

// The cases of the table that no deviation has made fail.
std::vector<const Case*> unfailed(const runner::SuiteParts& parts, const Matrix& matrix) {
  std::set<std::string> failed;
  for (const DeviationResult& result : matrix.deviations) {
    for (const Failure& failure : result.own) failed.insert(failure.id);
    for (const Failure& failure : result.collateral)
      if (!failure.error) failed.insert(failure.id);
  }
  std::vector<const Case*> list;
  for (const Case& one : parts.table)
    if (!failed.contains(one.id)) list.push_back(&one);
  return list;
}

// Each of those runs with the deviations of other rules as well, until one makes it fail.
std::expected<void, std::string> complete(const runner::SuiteParts& parts, const Plan& plan,
                                          const Baseline& baseline, Matrix& matrix) {
  std::vector<const Case*> left = unfailed(parts, matrix);
  for (DeviationResult& result : matrix.deviations) {
    if (left.empty()) break;
    if (!result.at_own_rule()) continue;
    auto test_bed = test_bed_with(parts, plan, result.info->name);
    if (!test_bed) return std::unexpected(test_bed.error());
    std::erase_if(left, [&](const Case* one) {
      if (judges(*one, result.info->rule)) return false;  // it has run with this one
      const CaseOutcome outcome = parts.execute(*one, (*test_bed)->environment());
      judge(*one, outcome, baseline, result);
      return outcome.verdict == Verdict::fail;
    });
  }
  return {};
}

}  // namespace

namespace {

/// A deviation, and a rule that it breaks.
struct Target {
  const rnic::deviants::DeviationInfo* info;
  std::string_view rule;

  [[nodiscard]] bool is_own_rule() const { return rule == info->rule; }
};
using Chosen = std::vector<Target>;

// The deviations of the plan, its shard of them, each with all the rules that it breaks.
Chosen chosen_by(const Plan& plan) {
  Chosen list;
  unsigned number = 0;
  for (const auto& info : rnic::deviants::deviations()) {
    if (!plan.chosen.empty() && std::ranges::find(plan.chosen, info.name) == plan.chosen.end())
      continue;
    if (number++ % plan.shards != plan.shard - 1) continue;
    list.push_back({&info, info.rule});
    for (const auto& also : rnic::deviants::also_breaks())
      if (also.deviation == info.deviation) list.push_back({&info, also.rule});
  }
  return list;
}

// Whether a case runs with one of these deviations, so that its conforming run is needed.
bool is_met(const Case& one, const Chosen& chosen, const Plan& plan) {
  return plan.every_case || plan.complete || std::ranges::any_of(chosen, [&](const Target& target) {
           return judges(one, target.rule);
         });
}

}  // namespace

std::expected<Matrix, std::string> run_matrix(const runner::SuiteParts& parts, const Plan& plan) {
  Matrix matrix;
  Baseline baseline;
  const Chosen chosen = chosen_by(plan);
  auto conforming = test_bed_with(parts, plan, {});
  if (!conforming) return std::unexpected(conforming.error());
  for (const Case& one : parts.table) {
    if (!is_met(one, chosen, plan)) continue;
    const CaseOutcome& outcome = baseline[one.id] =
        parts.execute(one, (*conforming)->environment());
    if (plan.observe) plan.observe(nullptr, one, outcome);
    matrix.cases.emplace(one.id, judgement_of(one, outcome));
    if (outcome.verdict != Verdict::pass && outcome.verdict != Verdict::not_applicable)
      matrix.broken.push_back(fmt::format("{}: {}", one.id, outcome.reason));
  }
  for (const Target& target : chosen) {
    auto test_bed = test_bed_with(parts, plan, target.info->name);
    if (!test_bed) return std::unexpected(test_bed.error());
    DeviationResult result{.info = target.info, .rule = target.rule, .own = {}, .collateral = {}};
    const bool every_case = plan.every_case && target.is_own_rule();
    for (const Case& one : parts.table) {
      if (plan.until_noticed && !result.own.empty()) break;
      if (!every_case && !judges(one, target.rule)) continue;
      const CaseOutcome outcome = parts.execute(one, (*test_bed)->environment());
      if (plan.observe && target.is_own_rule()) plan.observe(target.info, one, outcome);
      judge(one, outcome, baseline, result);
    }
    if (plan.progress) plan.progress(result);
    matrix.deviations.push_back(std::move(result));
  }
  if (plan.complete)
    if (auto done = complete(parts, plan, baseline, matrix); !done)
      return std::unexpected(done.error());
  return matrix;
}

std::vector<std::string> never_failed(const runner::SuiteParts& parts, const Matrix& matrix) {
  const auto body = [](const std::string& id) { return id.substr(0, id.find('@')); };
  std::set<std::string> bodies, failed;
  for (const Case& one : parts.table)
    if (const auto seen = matrix.cases.find(one.id);
        seen == matrix.cases.end() || seen->second.applies)
      bodies.insert(body(one.id));
  for (const auto& result : matrix.deviations) {
    for (const Failure& failure : result.own) failed.insert(body(failure.id));
    for (const Failure& failure : result.collateral)
      if (!failure.error) failed.insert(body(failure.id));
  }
  std::vector<std::string> list;
  std::ranges::set_difference(bodies, failed, std::back_inserter(list));
  return list;
}

}  // namespace suite::self_test
