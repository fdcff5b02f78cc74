// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whether captures of one cell at several places show the same octets.
#pragma once

#include <string>

#include "plugfest/capture_point.hpp"
#include "plugfest/cell_traffic.hpp"

namespace plugfest {

/// What two captures show differently of the cell's TCP streams, in one line; empty: nothing. What a
/// capture lacks is no difference if it has trouble, which explains it.
[[nodiscard]] std::string difference(const Captured& one, const Captured& other,
                                     const CellTraffic& cell);

}  // namespace plugfest
