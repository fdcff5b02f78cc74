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
const Expectation* race_of(const Event& event, const CellOutline& cell) {
  const auto found = std::ranges::find_if(event.expectations, [&](const Expectation& one) {
    return one.intermittent && fits(one.cells, cell.id);
  });
  return found == event.expectations.end() ? nullptr : &*found;
}

}  // namespace

const Expectation* expectation_for(const Event& event, const CellOutline& cell) {
  const auto found = std::ranges::find_if(event.expectations, [&](const Expectation& one) {
    return one.verdict == cell.verdict && fits(one.cells, cell.id) &&
           fits_what_is_seen(one, cell.reason);
  });
  return found == event.expectations.end() ? nullptr : &*found;
}

suite::results::Gate judge(const Event& event, const CellOutline& cell) {
  const Verdict verdict = cell.verdict;
  if (const Expectation* holds = expectation_for(event, cell))
    return suite::expectations::answer(verdict, listed(*holds));
  const Expectation* race = verdict == Verdict::pass ? race_of(event, cell) : nullptr;
  if (race == nullptr) return suite::expectations::answer(verdict, std::nullopt);
  return suite::expectations::answer_without_race(race->verdict, listed(*race));
}

bool is_known_to_vary(const Event& event, const CellOutline& cell) {
  if (const Expectation* holds = expectation_for(event, cell)) return holds->intermittent;
  return cell.verdict == Verdict::pass && race_of(event, cell) != nullptr;
}

int tries_for(const Event& event, const CellOutline& cell) {
  if (cell.verdict != Verdict::pass) {
    const Expectation* holds = expectation_for(event, cell);
    return holds != nullptr ? holds->again : 1;
  }
  int tries = 1;
  for (const Expectation& one : event.expectations)
    if (fits(one.cells, cell.id)) tries = std::max(tries, one.tries);
  return tries;
}

}  // namespace plugfest
