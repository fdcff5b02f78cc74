// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// SHA-256 (FIPS 180-4), for the digests that tie a verdict to its capture file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace suite::results {

class Sha256 {
 public:
  Sha256();
  void update(std::span<const std::byte> octets);
  /// The digest as 64 lower-case hex digits. Call it once, last.
  [[nodiscard]] std::string finish();

 private:
  void block(const std::byte* octets);

  std::array<std::uint32_t, 8> state_;
  std::array<std::byte, 64> held_{};
  std::uint64_t total_ = 0;
};

[[nodiscard]] std::string sha256(std::span<const std::byte> octets);

}  // namespace suite::results
