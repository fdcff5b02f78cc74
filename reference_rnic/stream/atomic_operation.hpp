// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The arithmetic of Atomic operations (RFC 7306 section 5.1), on host integers.
#pragma once

#include <cstdint>

namespace rnic::stream {

/// The sum of `value` and `addend` in which no carry leaves a field; each bit that is set in `mask`
/// is the top bit of a field (5.1.1).
[[nodiscard]] constexpr std::uint64_t fetch_add(std::uint64_t value, std::uint64_t addend,
                                                std::uint64_t mask) {
  // The bits below the top ones cannot carry across them; the top bits are then added without
  // carry.
  const std::uint64_t below = (value & ~mask) + (addend & ~mask);
  return below ^ ((value ^ addend) & mask);
}

struct SwapOperands {
  std::uint64_t swap = 0, swap_mask = 0, compare = 0, compare_mask = 0;
};
/// `value` with the bits of the swap mask replaced, if it agrees with the compare data in the bits
/// of the compare mask (5.1.2).
[[nodiscard]] constexpr std::uint64_t compare_swap(std::uint64_t value,
                                                   const SwapOperands& operands) {
  if (((operands.compare ^ value) & operands.compare_mask) != 0) return value;
  return (value & ~operands.swap_mask) | (operands.swap & operands.swap_mask);
}

}  // namespace rnic::stream
