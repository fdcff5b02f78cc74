// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/self_test/varied_run.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/glob.hpp"
#include "reference_rnic/deviants/deviation.hpp"

namespace suite::self_test {

namespace {

using cases::Case;
using cases::CaseOutcome;
using cases::Judgement;
using cases::Verdict;
using rnic::deviants::DeviationInfo;

bool fails_at(const CaseOutcome& outcome, std::string_view rule) {
  // With strict judgement an advisory fails, so both count.
  return std::ranges::any_of(outcome.expectations, [&](const auto& record) {
    return record.rule == rule &&
           (record.judgement == Judgement::fail || record.judgement == Judgement::advisory);
  });
}

/// Whether a line of the list is about the deviation, by its name or its rule.
bool is_about(const Hidden& one, const DeviationInfo& deviation) {
  return base::matches_glob(one.deviation, std::string(deviation.name)) ||
         base::matches_glob(one.deviation, std::string(deviation.rule));
}

const Hidden* hiding(const VariedPlan& plan, const DeviationInfo& deviation, const LawfulSet& set) {
  const auto found = std::ranges::find_if(plan.hidden, [&](const Hidden& one) {
    return is_about(one, deviation) && std::ranges::any_of(set, [&](const auto lawful) {
             return info(lawful).name == one.variant;
           });
  });
  return found == plan.hidden.end() ? nullptr : &*found;
}

std::expected<VariedResult, std::string> run(const runner::SuiteParts& parts,
                                             const VariedPlan& plan, const iut::Hello& usual,
                                             const DeviationInfo& deviation, const LawfulSet& set) {
  runner::WorkerSetup setup = plan.setup;
  auto conforming = test_bed_with(parts, setup, set);
  if (!conforming) return std::unexpected(conforming.error());
  setup.deviations.emplace_back(deviation.name);
  auto deviant = test_bed_with(parts, setup, set);
  if (!deviant) return std::unexpected(deviant.error());
  for (auto* test_bed : {conforming->get(), deviant->get()})
    deny_what_is_missing(usual, test_bed->environment());
  VariedResult result{.info = &deviation, .set = set, .noticed = Noticed::no_case, .reason = {}};
  for (const Case& one : parts.table) {
    if (std::ranges::find(one.rules, deviation.rule) == one.rules.end()) continue;
    const CaseOutcome before = parts.execute(one, (*conforming)->environment());
    // Judged strictly, a variant that departs from a SHOULD may fail at the rule by itself.
    if (before.verdict == Verdict::not_applicable || fails_at(before, deviation.rule)) continue;
    result.noticed = Noticed::unnoticed;
    const CaseOutcome after = parts.execute(one, (*deviant)->environment());
    if (after.verdict != Verdict::fail || !fails_at(after, deviation.rule)) continue;
    result.noticed = Noticed::caught;
    return result;
  }
  if (const Hidden* why = hiding(plan, deviation, set);
      why != nullptr && result.noticed == Noticed::unnoticed) {
    result.noticed = Noticed::hidden;
    result.reason = why->reason;
  }
  return result;
}

std::optional<std::string> fault_of(const Hidden& one) {
  if (one.reason.empty()) return "is not DEVIATION-OR-RULE VARIANT REASON";
  if (!rnic::lawful::find_lawful(one.variant))
    return fmt::format("there is no lawful variant '{}'", one.variant);
  const auto all = rnic::deviants::deviations();
  if (std::ranges::any_of(all, [&](const auto& deviation) { return is_about(one, deviation); }))
    return {};
  return fmt::format("'{}' is neither a deviation nor the rule of one", one.deviation);
}

}  // namespace

std::expected<std::vector<Hidden>, std::vector<std::string>> load_hidden(
    const std::filesystem::path& file) {
  std::vector<Hidden> list;
  std::vector<std::string> faults;
  std::ifstream in(file);
  if (!in) return std::unexpected(std::vector{fmt::format("cannot read {}", file.string())});
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    Hidden one;
    std::istringstream words(line);
    words >> one.deviation >> one.variant >> std::ws;
    std::getline(words, one.reason);
    if (const auto fault = fault_of(one))
      faults.push_back(fmt::format("{}:{}: {}", file.string(), number, *fault));
    list.push_back(std::move(one));
  }
  if (!faults.empty()) return std::unexpected(faults);
  return list;
}

std::expected<std::vector<VariedResult>, std::string> run_varied(
    const runner::SuiteParts& parts, const VariedPlan& plan,
    const std::function<void(const VariedResult&)>& progress) {
  auto usual = test_bed_with(parts, plan.setup, {});
  if (!usual) return std::unexpected(usual.error());
  const iut::Hello hello = (*usual)->environment().iut.hello();
  const auto all = rnic::deviants::deviations();
  // Drawn for all of them, so that a deviation has the same set whatever is chosen.
  const auto sets = random_sets(all.size(), plan.seed);
  std::vector<VariedResult> results;
  std::size_t number = 0;
  for (const DeviationInfo& deviation : all) {
    const std::size_t index = number++;
    const bool chosen = plan.chosen.empty()
                            ? index % plan.shards == plan.shard - 1
                            : std::ranges::find(plan.chosen, deviation.name) != plan.chosen.end();
    if (!chosen) continue;
    auto result = run(parts, plan, hello, deviation, plan.set.empty() ? sets[index] : plan.set);
    if (!result) return std::unexpected(result.error());
    progress(*result);
    results.push_back(std::move(*result));
  }
  return results;
}

}  // namespace suite::self_test
