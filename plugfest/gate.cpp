// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/gate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "plugfest/cell.hpp"

namespace plugfest {

namespace {

bool fits_what_is_seen(const Expectation& one, const std::string& reason) {
  return one.observed.empty() || suite::expectations::fits(one.observed, reason);
}

suite::expectations::Listed listed(const Expectation& one) {
  return {fmt::format("line {}", one.line), one.reason};
}

/// The expectation that lets a good cell be bad as well; nullptr: none.
const Expectation* race_of(const Event& event, const CellRecord& record) {
  const auto found = std::ranges::find_if(event.expectations, [&](const Expectation& one) {
    return one.intermittent && fits(one.cells, record.id);
  });
  return found == event.expectations.end() ? nullptr : &*found;
}

}  // namespace

const Expectation* expectation_for(const Event& event, const CellRecord& record) {
  const auto found = std::ranges::find_if(event.expectations, [&](const Expectation& one) {
    return one.verdict == record.outcome.verdict && fits(one.cells, record.id) &&
           fits_what_is_seen(one, record.outcome.reason);
  });
  return found == event.expectations.end() ? nullptr : &*found;
}

suite::results::Gate judge(const Event& event, const CellRecord& record) {
  const Verdict verdict = record.outcome.verdict;
  if (const Expectation* holds = expectation_for(event, record))
    return suite::expectations::answer(verdict, listed(*holds));
  const Expectation* race = verdict == Verdict::pass ? race_of(event, record) : nullptr;
  if (race == nullptr) return suite::expectations::answer(verdict, std::nullopt);
  return suite::expectations::answer_without_race(race->verdict, listed(*race));
}

bool is_known_to_vary(const Event& event, const CellRecord& record) {
  if (const Expectation* holds = expectation_for(event, record)) return holds->intermittent;
  return record.outcome.verdict == Verdict::pass && race_of(event, record) != nullptr;
}

int tries_for(const Event& event, const CellRecord& record) {
  if (record.outcome.verdict != Verdict::pass) {
    const Expectation* holds = expectation_for(event, record);
    return holds != nullptr ? holds->again : 1;
  }
  int tries = 1;
  for (const Expectation& one : event.expectations)
    if (fits(one.cells, record.id)) tries = std::max(tries, one.tries);
  return tries;
}

}  // namespace plugfest
