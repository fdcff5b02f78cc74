// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/expectations/known_issue_gate.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/glob.hpp"
#include "suite/expectations/answers.hpp"

namespace suite::expectations {

namespace {

/// For a case without an entry that a known incident interrupts.
constexpr std::uint32_t attempts_after_incident = 3;

using results::GateResult;
using results::Judgement;
using results::Verdict;

// Whether an Entry, a KnownIncident or a KnownFinding applies to the IUT.
bool applies(const auto& one, const results::IutRecord& iut) {
  const bool named =
      one.iut == iut.kind || base::matches_glob(one.iut, iut.identity.implementation);
  return named && one.versions.holds(
                      {iut.identity.kernel, iut.identity.firmware, iut.identity.driver_version});
}

Listed listed(const Entry& entry) { return {entry.place, entry.reason}; }

// The actual texts of expectations of the entry's rule that were not met; the case's reason if
// there are none.
std::vector<std::string> observations(const results::CaseRecord& record, const std::string& rule) {
  std::vector<std::string> list;
  for (const results::ExpectationRecord& expectation : record.outcome.expectations) {
    if (expectation.rule == rule && expectation.judgement != Judgement::pass)
      list.push_back(expectation.actual);
  }
  list.push_back(record.outcome.reason);  // for example a crash that no expectation records
  return list;
}

// A rule that is broken in this case besides those of the entry.
const results::ExpectationRecord* another(const results::CaseRecord& record, const Entry& entry) {
  const auto unknown = [&](const results::ExpectationRecord& one) {
    return one.judgement == Judgement::fail && one.rule != entry.rule &&
           std::ranges::find(entry.also, one.rule) == entry.also.end();
  };
  const auto found = std::ranges::find_if(record.outcome.expectations, unknown);
  return found == record.outcome.expectations.end() ? nullptr : &*found;
}

// Whether the run has what the entry describes.
bool is_shown(const KnownFinding& known, const std::vector<results::FindingRecord>& findings) {
  return std::ranges::any_of(findings, [&](const results::FindingRecord& finding) {
    return finding.rule == known.rule &&
           std::ranges::any_of(finding.observed,
                               [&](const std::string& text) { return fits(known.observed, text); });
  });
}

bool was_judged(const std::string& case_id, const results::Document& run) {
  return std::ranges::any_of(run.cases, [&](const results::CaseRecord& record) {
    return record.id == case_id && record.gate.result != GateResult::superseded &&
           record.outcome.verdict != Verdict::not_applicable &&
           record.outcome.verdict != Verdict::error;
  });
}

}  // namespace

Gate::Gate(KnownIssues known, const results::IutRecord& iut) : known_(std::move(known)) {
  std::erase_if(known_.entries, [&](const Entry& one) { return !applies(one, iut); });
  std::erase_if(known_.findings, [&](const KnownFinding& one) { return !applies(one, iut); });
  std::erase_if(known_.kernel_messages,
                [&](const KnownIncident& one) { return !applies(one, iut); });
  std::erase_if(known_.random_crashes,
                [&](const KnownIncident& one) { return !applies(one, iut); });
}

const Entry* Gate::find(const std::string& case_id) const {
  const auto found = std::ranges::find(known_.entries, case_id, &Entry::case_id);
  return found == known_.entries.end() ? nullptr : &*found;
}

const KnownIncident* Gate::known_kernel_message(const std::string& excerpt) const {
  const auto found = std::ranges::find_if(known_.kernel_messages, [&](const KnownIncident& one) {
    return fits(one.observed, excerpt);
  });
  return excerpt.empty() || found == known_.kernel_messages.end() ? nullptr : &*found;
}

const KnownIncident* Gate::random_crash(const results::CaseRecord& record,
                                        const Entry* entry) const {
  if (record.outcome.expectations.empty()) return nullptr;
  const results::ExpectationRecord& last = record.outcome.expectations.back();
  if (last.judgement != Judgement::fail || (entry != nullptr && fits(entry->observed, last.actual)))
    return nullptr;
  const auto found = std::ranges::find_if(known_.random_crashes, [&](const KnownIncident& one) {
    return fits(one.observed, last.actual);
  });
  return found == known_.random_crashes.end() ? nullptr : &*found;
}

results::Gate Gate::judge(const results::CaseRecord& record, std::uint32_t attempt) const {
  const Entry* entry = find(record.id);
  // The log of cases that ran at the same time does not excuse a case that failed for its own
  // reason.
  const bool complained = record.decided_by == results::DecidedBy::kernel_log;
  const KnownIncident* incident = complained ? known_kernel_message(record.kernel_log) : nullptr;
  if (incident != nullptr && entry == nullptr && attempt < attempts_after_incident)
    return {GateResult::superseded, incident->place,
            "the IUT's kernel wrote a known message, and the case runs again: " + incident->reason};
  if (incident != nullptr && entry == nullptr)
    return {GateResult::new_failure, incident->place,
            fmt::format("the IUT's kernel wrote a known message in all {} attempts",
                        attempts_after_incident)};
  if (incident != nullptr) return {GateResult::known, incident->place, incident->reason};
  if (const KnownIncident* crash = random_crash(record, entry); crash != nullptr) {
    if (attempt < attempts_after_incident)
      return {GateResult::superseded, crash->place,
              "a known random crash ended it, and it runs again: " + crash->reason};
    return {GateResult::new_failure, crash->place,
            fmt::format("a known random crash ended all {} attempts", attempts_after_incident)};
  }
  if (entry == nullptr) return answer(record.outcome.verdict, std::nullopt);
  if (record.outcome.verdict == Verdict::pass && attempt < entry->tries)
    return {GateResult::superseded, entry->place, "it did not fail this time, and runs again"};
  if (record.outcome.verdict == Verdict::pass && entry->intermittent)
    return answer_without_race(entry->verdict, listed(*entry));
  if (record.outcome.verdict == Verdict::pass) {
    return {GateResult::stale, entry->place,
            fmt::format("{} passes now: remove the entry", record.id)};
  }
  if (record.outcome.verdict != entry->verdict) {
    return {GateResult::new_failure, entry->place,
            fmt::format("{} is recorded, {} came", results::name(entry->verdict),
                        results::name(record.outcome.verdict))};
  }
  const auto came = observations(record, entry->rule);
  if (std::ranges::none_of(came,
                           [&](const std::string& text) { return fits(entry->observed, text); })) {
    return {GateResult::new_failure, entry->place,
            fmt::format("'{}' is recorded, '{}' came", fmt::join(entry->observed, "' or '"),
                        came.front())};
  }
  if (const auto* more = another(record, *entry)) {
    return {GateResult::new_failure, entry->place,
            fmt::format("{} is broken too, which is not recorded: {}", more->rule, more->actual)};
  }
  return answer(record.outcome.verdict, listed(*entry));
}

results::Gate Gate::judge(const results::FindingRecord& finding) const {
  const KnownFinding* first = nullptr;
  for (const std::string& text : finding.observed) {
    const auto known = std::ranges::find_if(known_.findings, [&](const KnownFinding& one) {
      return one.rule == finding.rule && fits(one.observed, text);
    });
    if (known == known_.findings.end())
      return {GateResult::new_failure, "",
              fmt::format("'{}' came, and no entry of `findings` says so", text)};
    if (first == nullptr) first = &*known;
  }
  return {GateResult::known, first->place, first->reason};
}

std::vector<std::string> Gate::stale_findings(const results::Document& run) const {
  std::vector<std::string> stale;
  for (const KnownFinding& known : known_.findings)
    if (!known.intermittent && was_judged(known.case_id, run) && !is_shown(known, run.findings))
      stale.push_back(fmt::format("{} finding:{}", known.place, known.rule));
  return stale;
}

}  // namespace suite::expectations
