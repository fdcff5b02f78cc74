// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/expected.hpp"

#include <algorithm>

#include "base/glob.hpp"
#include "plugfest/cell.hpp"

namespace plugfest {

namespace {

bool fits_what_is_seen(const Expectation& one, const std::string& reason) {
  return one.observed.empty() || std::ranges::any_of(one.observed, [&](const std::string& glob) {
           return base::matches_glob(glob, reason);
         });
}

bool is_good(Verdict verdict) { return verdict == Verdict::pass || verdict == Verdict::advisory; }

}  // namespace

bool is_bad(Verdict verdict) { return !is_good(verdict) && verdict != Verdict::not_applicable; }

const Expectation* expectation_for(const Event& event, const CellRecord& record) {
  const auto found = std::ranges::find_if(event.expectations, [&](const Expectation& one) {
    return one.verdict == word(record.outcome.verdict) && fits(one.cells, record.id) &&
           fits_what_is_seen(one, record.outcome.reason);
  });
  return found == event.expectations.end() ? nullptr : &*found;
}

bool is_known_to_vary(const Event& event, const CellRecord& record) {
  if (const Expectation* holds = expectation_for(event, record)) return holds->intermittent;
  return is_good(record.outcome.verdict) &&
         std::ranges::any_of(event.expectations, [&](const Expectation& one) {
           return one.intermittent && fits(one.cells, record.id);
         });
}

int tries_for(const Event& event, const CellRecord& record) {
  if (!is_good(record.outcome.verdict)) {
    const Expectation* holds = expectation_for(event, record);
    return holds != nullptr ? holds->again : 1;
  }
  int tries = 1;
  for (const Expectation& one : event.expectations)
    if (fits(one.cells, record.id)) tries = std::max(tries, one.tries);
  return tries;
}

}  // namespace plugfest
