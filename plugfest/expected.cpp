// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/expected.hpp"

#include <algorithm>

#include "base/glob.hpp"
#include "plugfest/cell.hpp"

namespace plugfest {

namespace {

using nlohmann::json;

bool fits_what_is_seen(const Expectation& one, const std::string& reason) {
  return one.observed.empty() || std::ranges::any_of(one.observed, [&](const std::string& glob) {
           return base::matches_glob(glob, reason);
         });
}

bool is_good(const json& record) {
  const std::string verdict = record.value("verdict", "error");
  return verdict == "pass" || verdict == "advisory";
}

}  // namespace

bool is_bad(const std::string& verdict) {
  return verdict == "fail" || verdict == "error" || verdict == "inconclusive";
}

const Expectation* expectation_for(const Event& event, const json& record) {
  const std::string cell = record.value("id", ""), verdict = record.value("verdict", "error"),
                    reason = record.value("reason", "");
  const auto found = std::ranges::find_if(event.expectations, [&](const Expectation& one) {
    return one.verdict == verdict && fits(one.cells, cell) && fits_what_is_seen(one, reason);
  });
  return found == event.expectations.end() ? nullptr : &*found;
}

bool is_known_to_vary(const Event& event, const json& record) {
  if (const Expectation* holds = expectation_for(event, record)) return holds->intermittent;
  return is_good(record) && std::ranges::any_of(event.expectations, [&](const Expectation& one) {
           return one.intermittent && fits(one.cells, record.value("id", ""));
         });
}

int tries_for(const Event& event, const json& record) {
  if (!is_good(record)) {
    const Expectation* holds = expectation_for(event, record);
    return holds != nullptr ? holds->again : 1;
  }
  int tries = 1;
  for (const Expectation& one : event.expectations)
    if (fits(one.cells, record.value("id", ""))) tries = std::max(tries, one.tries);
  return tries;
}

}  // namespace plugfest
