// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Octets that are to be zero: pads, and headers that a Terminate leaves out.
#pragma once

#include <algorithm>
#include <cstddef>

#include "reference_rnic/wire/bytes.hpp"

namespace rnic::wire {

[[nodiscard]] inline bool all_zero(Bytes octets) {
  return std::ranges::all_of(octets, [](std::byte octet) { return octet == std::byte{0}; });
}

}  // namespace rnic::wire
