// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a gate answers, for cases (known_issue_gate.hpp) and for cells of a plugfest
// (plugfest/gate.hpp): they find the entry that holds in ways of their own, and share what follows
// from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "suite/results/record.hpp"

namespace suite::expectations {

/// Whether an outcome with this verdict is a new failure unless an entry lists it.
[[nodiscard]] bool is_bad(results::Verdict verdict);

/// Whether one of the shell patterns matches the text.
[[nodiscard]] bool fits(const std::vector<std::string>& observed, const std::string& text);

/// An entry, as far as an answer quotes it.
struct Listed {
  std::string place;  ///< file:line, or the line of an event file
  std::string reason;
};

/// The answer to an outcome for which `entry` holds, or none does.
[[nodiscard]] results::Gate answer(results::Verdict verdict, const std::optional<Listed>& entry);

/// The answer to an outcome that is good, where `entry` lists `listed` as intermittent.
[[nodiscard]] results::Gate answer_without_race(results::Verdict listed, const Listed& entry);

}  // namespace suite::expectations
