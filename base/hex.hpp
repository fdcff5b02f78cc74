// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Octets as hexadecimal digits, and back. C++17, for the agent's own build.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/octets.hpp"

namespace base {

/// `001fc0`, or `00 1f c0` if a separator is given.
[[nodiscard]] std::string to_hex(const void* octets, std::size_t count,
                                 std::string_view separator = {});
/// The same for any contiguous container of octets.
template <class Container>
[[nodiscard]] std::string to_hex(const Container& octets, std::string_view separator = {}) {
  static_assert(sizeof(*octets.data()) == 1);
  return to_hex(octets.data(), octets.size(), separator);
}

/// The value of a digit of either case; -1: it is not a digit.
[[nodiscard]] int hex_digit(char digit);
/// Pairs of digits of either case, up to the first octet that is not a digit.
[[nodiscard]] Octets leading_hex(std::string_view text);
/// Octets as people write them, `41 43 0000`: blanks and line ends may stand between octets.
[[nodiscard]] std::optional<Octets> from_hex(std::string_view text);

}  // namespace base
