// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The gate of an event: a cell's record beside what the organiser has listed.
//
// Its answer is that of the gate of cases (suite/expectations/gate.hpp). What it is asked with
// differs: a known issue is of one IUT in some versions, and names the rule that a case finds broken;
// an event knows pairs of participants and globs over their cells.
#pragma once

#include "plugfest/event.hpp"
#include "plugfest/record.hpp"
#include "suite/results/record.hpp"

namespace plugfest {

/// A verdict that somebody has to look at.
[[nodiscard]] bool is_bad(Verdict verdict);
/// The expectation that holds for this record; nullptr: none.
[[nodiscard]] const Expectation* expectation_for(const Event& event, const CellRecord& record);
/// Known, if an expectation holds for a bad cell, else a new failure; as expected, if the cell is
/// good, with the expectation that lets it be either.
[[nodiscard]] suite::results::Gate judge(const Event& event, const CellRecord& record);
/// Whether the cell is listed to go one way or another, and has gone one of these.
[[nodiscard]] bool is_known_to_vary(const Event& event, const CellRecord& record);
/// Attempts that the cell of this record gets: until a race that is looked for shows, or until one
/// that hides what the cell is for does not.
[[nodiscard]] int tries_for(const Event& event, const CellRecord& record);

}  // namespace plugfest
