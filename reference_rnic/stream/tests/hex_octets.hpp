// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Octets typed by hand: "41 43 0000 0001" in, octets out, and back for messages of failing checks.
#pragma once

#include <cassert>
#include <string>
#include <string_view>
#include <vector>

#include "base/hex.hpp"
#include "reference_rnic/wire/bytes.hpp"

namespace rnic::stream::test {

/// Hex digits in pairs; blanks and line ends between them are for the eye.
inline std::vector<std::byte> octets(std::string_view text) {
  const auto read = base::from_hex(text);
  assert(read && "pairs of hexadecimal digits");
  return *read;
}

inline std::string hex(wire::Bytes input) { return base::to_hex(input); }

/// `text` without blanks: the form that hex() gives.
inline std::string squeezed(std::string_view text) { return hex(octets(text)); }

}  // namespace rnic::stream::test
