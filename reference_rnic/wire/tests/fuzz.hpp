// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the fuzz targets of wire share: the input as octets, and the check that ends the program.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "reference_rnic/wire/bytes.hpp"

namespace rnic::wire::test {

inline Bytes fuzz_input(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

/// A property that must hold for any input; `what` names it where it does not.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

}  // namespace rnic::wire::test
