// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the organiser has listed, held against a cell's record: what is no news, what is a race, and
// whether a race gets another try.
//
// The gate of a run of cases (suite/expectations) is another one: it knows one IUT in one version,
// and of each case the rule that it breaks. An event knows pairs and globs over cells; its verdicts
// come with a fault, and an expectation is stale if no cell at all is as it says.
#pragma once

#include "plugfest/event.hpp"
#include "plugfest/record.hpp"

namespace plugfest {

/// A verdict that somebody has to look at.
[[nodiscard]] bool is_bad(Verdict verdict);
/// The expectation that holds for this record; nullptr: none.
[[nodiscard]] const Expectation* expectation_for(const Event& event, const CellRecord& record);
/// Whether the cell is listed to go one way or another, and has gone one of these.
[[nodiscard]] bool is_known_to_vary(const Event& event, const CellRecord& record);
/// Attempts that the cell of this record gets: until a race that is looked for shows, or until one
/// that hides what the cell is for does not.
[[nodiscard]] int tries_for(const Event& event, const CellRecord& record);

}  // namespace plugfest
