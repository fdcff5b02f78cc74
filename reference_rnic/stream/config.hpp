// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The configuration that a stream gets before it starts, and what startup agrees on.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "reference_rnic/wire/fpdu.hpp"

namespace rnic::stream {

using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

enum class Role : std::uint8_t { initiator, responder };

struct RtrKinds {
  bool send = true;
  bool write = true;
  bool read = true;
  bool operator==(const RtrKinds&) const = default;
};

struct Config {
  Role role = Role::initiator;
  std::uint8_t revision = 2;  ///< highest MPA revision spoken: 1 or 2
  bool markers = false;       ///< M in our frame: we want the peer to send Markers
  bool crc = true;            ///< C in our frame
  /// Initiator, revision 2: send the enhanced words (S). A responder answers in kind.
  bool enhanced = true;
  bool peer_to_peer = false;  ///< initiator: flag A
  RtrKinds rtr;               ///< RTR indications we can send (initiator) or take (responder)
  std::uint16_t ird = 16;     ///< inbound Read queue depth offered; 0x3FFF: not negotiated
  std::uint16_t ord = 16;
  std::vector<std::byte> private_data;  ///< initiator: ULP private data of the request
  std::size_t emss = 1448;              ///< octets of a TCP segment; the MULPDU follows from it
  Duration startup_timeout = std::chrono::seconds(10);
  Duration close_timeout = std::chrono::seconds(
      10);  ///< how long a peer may be silent and not close its half, once ours is closed

  /// First sequence numbers, other than 1 only in tests that want to see a wrap.
  struct Counters {
    std::uint32_t send = 1, read_request = 1, terminate = 1, atomic_response = 1;
  } first_sent, first_expected;
};

/// What startup agreed on.
struct Negotiated {
  std::uint8_t revision = 1;
  bool crc = true;
  bool send_markers = false;
  bool receive_markers = false;
  bool enhanced = false;
  bool peer_to_peer = false;
  std::uint16_t ird = 0, ord = 0;  ///< our own limits from now on
  std::uint16_t peer_ird = 0,
                peer_ord = 0;  ///< as the peer stated them; for the ULP (RFC 6581 9.1)
  /// The RTR indications that the Reply states (RFC 6581 9.2).
  RtrKinds rtr{.send = false, .write = false, .read = false};
};

}  // namespace rnic::stream
