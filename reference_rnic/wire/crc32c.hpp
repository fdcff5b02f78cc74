// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// CRC32c as MPA uses it (RFC 5044 section 4.4), computed by ISA-L.
#pragma once

#include "reference_rnic/wire/bytes.hpp"

namespace rnic::wire {

/// A running CRC32c over octets given in one or several pieces.
class Crc32c {
 public:
  Crc32c& update(Bytes octets);
  /// The check value as the four octets that stand in the FPDU trailer, in wire order (RFC 5044
  /// section 4.4).
  [[nodiscard]] std::array<std::byte, 4> trailer() const;

 private:
  std::uint32_t state_ = 0xFFFFFFFFU;
};

[[nodiscard]] std::array<std::byte, 4> crc32c_trailer(Bytes octets);

}  // namespace rnic::wire
