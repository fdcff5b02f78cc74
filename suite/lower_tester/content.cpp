// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lower_tester/content.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "reference_rnic/wire/crc32c.hpp"
#include "reference_rnic/wire/notation.hpp"

namespace suite::lower_tester {

Octets PayloadGenerator::octets(std::size_t size) {
  Octets data(size);
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = engine_();
    std::memcpy(data.data() + at, &word, std::min(sizeof word, size - at));
  }
  return data;
}

std::string digest(wire::Bytes octets) {
  return fmt::format("{} octets with CRC32c {}", octets.size(),
                     wire::hex(wire::Crc32c().update(octets).trailer()));
}

}  // namespace suite::lower_tester
