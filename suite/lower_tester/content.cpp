// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lower_tester/content.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "reference_rnic/wire/crc32c.hpp"
#include "reference_rnic/wire/notation.hpp"

namespace suite::lower_tester {

namespace {

/// Random octets, from which others are cut: to copy some costs a tenth of drawing them.
const Octets& pool() {
  static const Octets drawn = [] {
    constexpr std::size_t words = std::size_t{1} << 18;
    std::mt19937_64 engine(1);
    std::vector<std::uint64_t> values(words);
    std::ranges::generate(values, std::ref(engine));
    const wire::Bytes octets = std::as_bytes(std::span(values));
    return Octets(octets.begin(), octets.end());
  }();
  return drawn;
}

}  // namespace

Octets PayloadGenerator::octets(std::size_t size) {
  Octets data;
  data.reserve(size);
  while (data.size() < size) {
    const std::size_t length = std::min(size - data.size(), pool().size() / 2);
    const wire::Bytes cut = wire::Bytes(pool()).subspan(number(0, pool().size() - length), length);
    data.insert(data.end(), cut.begin(), cut.end());
  }
  return data;
}

std::string digest(wire::Bytes octets) {
  return fmt::format("{} octets with CRC32c {}", octets.size(),
                     wire::hex(wire::Crc32c().update(octets).trailer()));
}

}  // namespace suite::lower_tester
