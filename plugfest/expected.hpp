// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Compares the organiser's expectations with a cell's record: what is already known, what is a
// race, and whether a race is tried again.
//
// The gate of a run of cases (suite/expectations) is different: it knows one IUT in one version,
// and for each case the rule that it breaks. An event has pairs and globs over cells; its verdicts
// come with a fault, and an expectation is stale if no cell fits it.
#pragma once

#include "plugfest/event.hpp"
#include "plugfest/record.hpp"

namespace plugfest {

/// A verdict that needs attention.
[[nodiscard]] bool is_bad(Verdict verdict);
/// The expectation that holds for this record; nullptr: none.
[[nodiscard]] const Expectation* expectation_for(const Event& event, const CellRecord& record);
/// Whether the cell is listed as intermittent, with an outcome that is listed.
[[nodiscard]] bool is_known_to_vary(const Event& event, const CellRecord& record);
/// The number of attempts at the cell of this record: until a race that is looked for shows, or
/// until one that hides the subject of the cell does not.
[[nodiscard]] int tries_for(const Event& event, const CellRecord& record);

}  // namespace plugfest
