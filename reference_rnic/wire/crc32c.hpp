// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// CRC32c as MPA uses it (RFC 5044 section 4.4, which takes it from iSCSI).
#pragma once

#include "reference_rnic/wire/bytes.hpp"

namespace rnic::wire {

/// A running CRC32c over octets given in one or several pieces:
/// `Crc32c().update(header).update(payload).trailer()`.
class Crc32c {
 public:
  Crc32c& update(Bytes octets);
  /// The check value as the four octets of the FPDU's CRC field, in wire order: the least
  /// significant octet of the value first (RFC 3720 appendix B.4; RFC 5044 Figures 5 and 6).
  [[nodiscard]] std::array<std::byte, 4> trailer() const;

 private:
  std::uint32_t state_ = 0xFFFFFFFFU;
};

}  // namespace rnic::wire
