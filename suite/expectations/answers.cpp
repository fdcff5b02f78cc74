// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/expectations/answers.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/glob.hpp"

namespace suite::expectations {

using results::GateResult;
using results::Verdict;

bool is_bad(Verdict verdict) {
  return verdict != Verdict::pass && verdict != Verdict::not_applicable;
}

bool fits(const std::vector<std::string>& observed, const std::string& text) {
  return std::ranges::any_of(
      observed, [&](const std::string& pattern) { return base::matches_glob(pattern, text); });
}

results::Gate answer(Verdict verdict, const std::optional<Listed>& entry) {
  if (entry)
    return {is_bad(verdict) ? GateResult::known : GateResult::as_expected, entry->place,
            entry->reason};
  if (!is_bad(verdict)) return {};
  return {GateResult::new_failure, "",
          fmt::format("{}, and no expectation says so", results::name(verdict))};
}

results::Gate answer_without_race(Verdict listed, const Listed& entry) {
  return {GateResult::as_expected, entry.place,
          fmt::format("{} now and then: {}", results::name(listed), entry.reason)};
}

}  // namespace suite::expectations
