// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Covering arrays: few rows, in which all combinations of the values of any two (or three) factors stand.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace suite::sessions {

/// The number of a value for each factor.
using CoveringRow = std::vector<std::uint32_t>;

/// `sizes`: how many values each factor has, at least one. `strength`: 2 for pairs, 3 for triples; at most as
/// many as there are factors. The same arguments give the same rows.
[[nodiscard]] std::vector<CoveringRow> covering_array(std::span<const std::uint32_t> sizes,
                                                      std::size_t strength);

}  // namespace suite::sessions
