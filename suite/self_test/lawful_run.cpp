// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/self_test/lawful_run.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "base/glob.hpp"
#include "reference_rnic/lawful/offer.hpp"

namespace suite::self_test {

namespace {

using cases::Case;
using cases::CaseOutcome;
using cases::Judgement;
using cases::Verdict;

using Baseline = std::map<std::string, CaseOutcome>;

/// Names of what `varied` lacks compared with `usual`: capabilities, and limits that are lower.
std::vector<std::string> taken_away(const iut::Hello& usual, const iut::Hello& varied) {
  std::vector<std::string> names;
  for (const std::string& word : usual.capabilities)
    if (std::ranges::find(varied.capabilities, word) == varied.capabilities.end())
      names.push_back(word);
  for (const auto& [name, limit] : varied.limits)
    if (const auto before = usual.limits.find(name);
        before == usual.limits.end() || limit < before->second)
      names.push_back(name);
  return names;
}

/// All that the IUT has sent on a connection: the lines of the exchange do not show CRCs and pads.
base::Octets sent_by_iut(const results::ConnectionRecord& connection) {
  base::Octets octets;
  for (const auto& mark : connection.marks)
    if (mark.direction == results::Direction::from_iut)
      octets.insert(octets.end(), mark.octets.begin(), mark.octets.end());
  return octets;
}

bool same_exchange(const CaseOutcome& a, const CaseOutcome& b) {
  return std::ranges::equal(a.exchange, b.exchange,
                            [](const auto& one, const auto& other) {
                              return one.text == other.text && one.hex == other.hex &&
                                     one.direction == other.direction;
                            }) &&
         std::ranges::equal(a.connections, b.connections, {}, sent_by_iut, sent_by_iut);
}

std::vector<std::string> failed_rules(const CaseOutcome& outcome) {
  std::set<std::string> rules;
  for (const auto& record : outcome.expectations)
    if (record.judgement == Judgement::fail) rules.insert(record.rule);
  return {rules.begin(), rules.end()};
}

/// Counts one outcome, and keeps it if it is not as it should be.
void judge(const Case& one, const CaseOutcome& usual, const CaseOutcome& varied,
           const std::vector<std::string>& lacking, LawfulResult& result) {
  ++result.cases_run;
  if (!same_exchange(usual, varied)) ++result.changed;
  if (varied.verdict == Verdict::pass || varied.verdict == usual.verdict) return;
  const bool lacks = varied.lack && std::ranges::find(lacking, varied.lack->name) != lacking.end();
  if (varied.verdict == Verdict::not_applicable && lacks) {
    ++result.not_applicable;
    return;
  }
  result.wrong.push_back({.id = one.id,
                          .verdict = name(varied.verdict),
                          .rules = failed_rules(varied),
                          .reason = varied.reason});
}

}  // namespace

std::vector<std::string> deny_what_is_missing(const iut::Hello& usual,
                                              cases::Environment& environment) {
  std::vector<std::string> names = taken_away(usual, environment.iut.hello());
  for (const std::string& name : names)
    if (!usual.limits.contains(name)) environment.pics[name] = false;
  return names;
}

std::expected<std::unique_ptr<runner::TestBed>, std::string> test_bed_with(
    const runner::SuiteParts& parts, runner::WorkerSetup setup, const LawfulSet& set) {
  setup.lawful.clear();
  for (const auto lawful : set) setup.lawful.emplace_back(info(lawful).name);
  auto test_bed = runner::make_test_bed(setup, parts);
  if (!test_bed) return test_bed;
  if (const auto alive = (*test_bed)->revive(); !alive) return std::unexpected(alive.error());
  return test_bed;
}

std::string name_of(const LawfulSet& set) {
  std::string text;
  for (const auto lawful : set) {
    if (!text.empty()) text += '+';
    text += info(lawful).name;
  }
  return text;
}

std::vector<LawfulSet> single_variants() {
  std::vector<LawfulSet> sets;
  for (const auto& info : rnic::lawful::lawful_variants()) sets.push_back({info.lawful});
  return sets;
}

std::vector<LawfulSet> random_sets(std::size_t count, unsigned seed) {
  constexpr std::size_t fewest = 2, most = 6;
  // The engine alone: distributions differ between libraries.
  std::mt19937 draw(seed);
  std::vector<LawfulSet> sets;
  while (sets.size() < count) {
    const std::size_t size = fewest + draw() % (most - fewest + 1);
    std::set<rnic::lawful::Lawful> chosen;
    while (chosen.size() < size)
      chosen.insert(static_cast<rnic::lawful::Lawful>(draw() % rnic::lawful::lawful_count));
    sets.emplace_back(chosen.begin(), chosen.end());
  }
  return sets;
}

std::expected<std::vector<LawfulResult>, std::string> run_lawful(
    const runner::SuiteParts& parts, const LawfulPlan& plan,
    const std::function<void(const LawfulResult&)>& progress) {
  runner::WorkerSetup setup = plan.setup;
  setup.strict = false;
  auto usual = test_bed_with(parts, setup, {});
  if (!usual) return std::unexpected(usual.error());
  Baseline baseline;
  for (const Case& one : parts.table)
    if (base::matches_glob(plan.select, one.id))
      baseline[one.id] = parts.execute(one, (*usual)->environment());
  std::vector<LawfulResult> results;
  for (const LawfulSet& set : plan.sets) {
    auto test_bed = test_bed_with(parts, setup, set);
    if (!test_bed) return std::unexpected(test_bed.error());
    auto lacking =
        deny_what_is_missing((*usual)->environment().iut.hello(), (*test_bed)->environment());
    // A hello does not say which RTR kinds there are.
    if (rnic::lawful::offer_of(set).startup.rtr != rnic::lawful::offer_of({}).startup.rtr ||
        std::ranges::find(lacking, iut::capability::configure_rtr) != lacking.end())
      lacking.emplace_back(iut::capability::configure_rtr);
    LawfulResult result{.set = set, .wrong = {}};
    for (const Case& one : parts.table) {
      const auto before = baseline.find(one.id);
      if (before == baseline.end()) continue;
      const CaseOutcome outcome = parts.execute(one, (*test_bed)->environment());
      judge(one, before->second, outcome, lacking, result);
      if (plan.observe) plan.observe(set, one, outcome);
    }
    progress(result);
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace suite::self_test
