// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lower_tester/content.hpp"

#include <fmt/format.h>

#include "reference_rnic/wire/crc32c.hpp"
#include "reference_rnic/wire/notation.hpp"

namespace suite::lower_tester {

Octets PayloadGenerator::octets(std::size_t size) {
  Octets data(size);
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (i % sizeof word == 0) word = engine_();
    data[i] = static_cast<std::byte>(word >> 8 * (i % sizeof word));
  }
  return data;
}

std::string digest(wire::Bytes octets) {
  return fmt::format("{} octets with CRC32c {}", octets.size(),
                     wire::hex(wire::Crc32c().update(octets).trailer()));
}

}  // namespace suite::lower_tester
