// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the record of a cell keeps: an event has tens of thousands of cells, and most of them pass.
#pragma once

#include <cstddef>

#include "plugfest/verdict.hpp"

namespace plugfest {

/// Of a cell that passes without an advisory: as many steps, and as many lines of the wire.
inline constexpr std::size_t most_lines_of_a_pass = 40;

/// Counts equal checks that hold once, with their number, in the place of the first. Of a cell that
/// passes without an advisory the middle of its steps and of its wire goes, and a line says so: its
/// pcap has all that passed on the wire. Anything else is kept as it is. Done again, it changes
/// nothing.
void condense(Outcome& outcome);

}  // namespace plugfest
