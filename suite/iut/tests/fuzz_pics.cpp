// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Any octets as a PICS and as a PIXIT file: faults that are reported, or a description that is the
// same after it is written and read.
#include <cstdint>
#include <cstdlib>

#include "suite/iut/pics/pics.hpp"
#include "suite/iut/pics/pixit.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto pics = suite::iut::parse_pics(text, "f")) {
    const auto again = suite::iut::parse_pics(to_yaml(*pics), "again");
    if (!again || to_yaml(*again) != to_yaml(*pics)) std::abort();
  } else if (pics.error().empty()) {
    std::abort();
  }
  if (const auto pixit = suite::iut::parse_pixit(text, "f"); !pixit && pixit.error().empty())
    std::abort();
  return 0;
}
