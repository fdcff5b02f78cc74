// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Makes Ethernet frames of TCP segments, with right checksums unless others are asked for.
#pragma once

#include <cstdint>

#include "base/bytes.hpp"
#include "dissectors/capture/frame.hpp"

namespace dissectors::capture {

struct TcpFrame {
  enum class Sum : std::uint8_t {
    right,
    wrong,
    /// What a host leaves for its adapter to complete.
    of_pseudo_header,
  };
  Endpoint from, to;
  std::uint32_t sequence = 0, acknowledgement = 0;
  std::uint8_t flags = 0;  ///< as in the header: FIN 1, SYN 2, RST 4, PSH 8, ACK 16
  std::uint16_t window = 0xFFFF;
  base::Bytes options{};  ///< a multiple of four octets
  base::Bytes payload{};
  /// Octets on the wire, of which `payload` may be the beginning.
  std::size_t payload_length = 0;
  Sum checksum = Sum::right;
};

/// MAC addresses are locally administered ones made of the end of the IP addresses. `time` is in
/// nanoseconds since 1970.
[[nodiscard]] Frame frame_of(const TcpFrame& segment, std::uint64_t time);

}  // namespace dissectors::capture
