// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/expectations/gate.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/glob.hpp"

namespace suite::expectations {

namespace {

/// By a known complaint, or a known strike, that no entry of the case tells of.
constexpr std::uint32_t attempts_when_struck = 3;

using results::GateResult;
using results::Judgement;
using results::Verdict;

// To an Entry, a Complaint or a Habit.
bool applies(const auto& one, const results::IutRecord& iut) {
  const bool named = one.iut == iut.kind || base::matches_glob(one.iut, iut.implementation);
  return named && one.versions.holds({iut.kernel, iut.firmware, iut.driver_version});
}

bool fits(const auto& one, const std::string& text) {
  return std::ranges::any_of(
      one.observed, [&](const std::string& pattern) { return base::matches_glob(pattern, text); });
}

// What came where the rule of the entry was not met; the case's reason where no expectation tells.
std::vector<std::string> observations(const results::CaseRecord& record, const std::string& rule) {
  std::vector<std::string> list;
  for (const results::Expectation& expectation : record.expectations) {
    if (expectation.rule == rule && expectation.verdict != Judgement::pass)
      list.push_back(expectation.actual);
  }
  list.push_back(record.reason);  // a crash, say, that no expectation tells of
  return list;
}

bool is_habit(const results::Expectation& one, const std::vector<Habit>& throughout) {
  return std::ranges::any_of(throughout, [&](const Habit& habit) {
    return habit.rule == one.rule && fits(habit, one.actual);
  });
}

// A race may hide what the entry is about, and leave of the failure what is wrong throughout.
bool fails_by_habit_alone(const results::CaseRecord& record, const std::vector<Habit>& throughout) {
  bool failed = false;
  for (const results::Expectation& one : record.expectations) {
    if (one.verdict == Judgement::pass || one.verdict == Judgement::advisory) continue;
    if (!is_habit(one, throughout)) return false;
    failed = true;
  }
  return failed;
}

// A rule that is broken in this case besides those of the entry and what is wrong throughout.
const results::Expectation* another(const results::CaseRecord& record, const Entry& entry,
                                    const std::vector<Habit>& throughout) {
  const auto unknown = [&](const results::Expectation& one) {
    return one.verdict == Judgement::fail && one.rule != entry.rule &&
           std::ranges::find(entry.also, one.rule) == entry.also.end() &&
           !is_habit(one, throughout);
  };
  const auto found = std::ranges::find_if(record.expectations, unknown);
  return found == record.expectations.end() ? nullptr : &*found;
}

}  // namespace

Gate::Gate(KnownDeviations known, const results::IutRecord& iut) : known_(std::move(known)) {
  std::erase_if(known_.entries, [&](const Entry& one) { return !applies(one, iut); });
  std::erase_if(known_.throughout, [&](const Habit& one) { return !applies(one, iut); });
  std::erase_if(known_.complaints, [&](const Complaint& one) { return !applies(one, iut); });
  std::erase_if(known_.strikes, [&](const Complaint& one) { return !applies(one, iut); });
}

const Entry* Gate::find(const std::string& case_id) const {
  const auto found = std::ranges::find(known_.entries, case_id, &Entry::case_id);
  return found == known_.entries.end() ? nullptr : &*found;
}

const Complaint* Gate::known_complaint(const std::string& excerpt) const {
  const auto found = std::ranges::find_if(known_.complaints,
                                          [&](const Complaint& one) { return fits(one, excerpt); });
  return excerpt.empty() || found == known_.complaints.end() ? nullptr : &*found;
}

const Complaint* Gate::strike(const results::CaseRecord& record, const Entry* entry) const {
  if (record.expectations.empty()) return nullptr;
  const results::Expectation& last = record.expectations.back();
  if (last.verdict != Judgement::fail || (entry != nullptr && fits(*entry, last.actual)))
    return nullptr;
  const auto found = std::ranges::find_if(
      known_.strikes, [&](const Complaint& one) { return fits(one, last.actual); });
  return found == known_.strikes.end() ? nullptr : &*found;
}

results::Gate Gate::judge(const results::CaseRecord& record, std::uint32_t attempt) const {
  const Entry* entry = find(record.id);
  const bool good = record.verdict == Verdict::pass || record.verdict == Verdict::not_applicable;
  // A case that failed alone for its own reason is not excused by the log of what ran beside it.
  const bool struck = record.reason.starts_with(results::kernel_complained);
  const Complaint* complaint = struck ? known_complaint(record.kernel_log) : nullptr;
  if (complaint != nullptr && entry == nullptr && attempt < attempts_when_struck)
    return {GateResult::superseded, complaint->place,
            "a known complaint struck it, and it runs again: " + complaint->reason};
  if (complaint != nullptr && entry == nullptr)
    return {GateResult::new_failure, complaint->place,
            fmt::format("a known complaint struck all {} attempts", attempts_when_struck)};
  if (complaint != nullptr) return {GateResult::known, complaint->place, complaint->reason};
  if (const Complaint* struck_by = strike(record, entry); struck_by != nullptr) {
    if (attempt < attempts_when_struck)
      return {GateResult::superseded, struck_by->place,
              "a known strike ended it, and it runs again: " + struck_by->reason};
    return {GateResult::new_failure, struck_by->place,
            fmt::format("a known strike ended all {} attempts", attempts_when_struck)};
  }
  if (entry == nullptr) {
    if (good) return {};
    return {GateResult::new_failure, "",
            fmt::format("{}, and no expectation says so", results::name(record.verdict))};
  }
  if (record.verdict == Verdict::pass && attempt < entry->tries)
    return {GateResult::superseded, entry->place, "it did not fail this time, and runs again"};
  if (record.verdict == Verdict::pass && entry->intermittent)
    return {GateResult::as_expected, entry->place, "it fails now and then: " + entry->reason};
  if (record.verdict == Verdict::pass) {
    return {GateResult::stale, entry->place,
            fmt::format("{} passes now: remove the entry", record.id)};
  }
  if (record.verdict != entry->verdict) {
    return {GateResult::new_failure, entry->place,
            fmt::format("{} is recorded, {} came", results::name(entry->verdict),
                        results::name(record.verdict))};
  }
  if (fails_by_habit_alone(record, known_.throughout))
    return {GateResult::known, entry->place, entry->reason};
  const auto came = observations(record, entry->rule);
  if (std::ranges::none_of(came, [&](const std::string& text) { return fits(*entry, text); })) {
    return {GateResult::new_failure, entry->place,
            fmt::format("'{}' is recorded, '{}' came", fmt::join(entry->observed, "' or '"),
                        came.front())};
  }
  if (const auto* more = another(record, *entry, known_.throughout)) {
    return {GateResult::new_failure, entry->place,
            fmt::format("{} is broken too, which is not recorded: {}", more->rule, more->actual)};
  }
  return {GateResult::known, entry->place, entry->reason};
}

}  // namespace suite::expectations
