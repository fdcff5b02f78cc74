// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The gate of an event: compares how a cell came out with what the organiser has listed.
//
// It answers as the gate of cases does (suite/expectations/answers.hpp), but finds what is listed in
// another way: a known issue is of one IUT in some versions, and names the rule that a case finds
// broken; an event has pairs of participants and globs over their cells.
#pragma once

#include "plugfest/event.hpp"
#include "plugfest/record.hpp"
#include "suite/expectations/answers.hpp"
#include "suite/results/record.hpp"

namespace plugfest {

using suite::expectations::is_bad;

/// The expectation that holds for a cell that has come out so; nullptr: none.
[[nodiscard]] const Expectation* expectation_for(const Event& event, const CellOutline& cell);
/// A bad cell is known if an expectation holds for it, otherwise a new failure. A good cell is as
/// expected, and has the expectation that lets it be either, if there is one.
[[nodiscard]] suite::results::Gate judge(const Event& event, const CellOutline& cell);
/// Whether the cell is listed as intermittent, with an outcome that is listed.
[[nodiscard]] bool is_known_to_vary(const Event& event, const CellOutline& cell);
/// The number of attempts at this cell: until a race that is looked for shows, or
/// until one that hides the subject of the cell does not.
[[nodiscard]] int tries_for(const Event& event, const CellOutline& cell);

}  // namespace plugfest
