// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Contents for transfers: octets and sizes drawn from a fixed seed, the same on every machine, and
// compared by a digest.
#pragma once

#include <random>
#include <string>

#include "suite/lower_tester/outgoing.hpp"

namespace suite::lower_tester {

class PayloadGenerator {
 public:
  explicit PayloadGenerator(std::uint64_t seed) : engine_(seed) {}
  /// Octets without a period, so that a piece at a wrong place shows wherever it came from.
  [[nodiscard]] Octets octets(std::size_t size);
  /// A number from `least` to `most`.
  [[nodiscard]] std::size_t number(std::size_t least, std::size_t most) {
    return least + static_cast<std::size_t>(engine_() % (most - least + 1));
  }

 private:
  std::mt19937_64 engine_;
};

/// `4096 octets with CRC32c 0x12345678`
[[nodiscard]] std::string digest(wire::Bytes octets);

}  // namespace suite::lower_tester
