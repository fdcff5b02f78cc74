// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a listener or a connecting consumer asks of MPA startup.
#pragma once

#include "reference_rnic/stream/stream.hpp"

namespace rnic::access {

/// The choices of RFC 5044 section 7.1 and RFC 6581; a responder's follow the request where the
/// RFCs say so.
struct StartupOptions {
  std::uint8_t revision = 2;  ///< the highest that is used
  bool crc = true;
  bool markers = false;       ///< wanted from the peer
  bool enhanced = true;       ///< initiator: IRD, ORD and flags in the request; needs revision 2
  bool peer_to_peer = false;  ///< initiator: flag A
  stream::RtrKinds rtr{};
  stream::Duration startup_timeout = std::chrono::seconds(10);
  /// After our FIN a silent peer has this long to send its own; then the connection is reset.
  stream::Duration close_timeout = std::chrono::seconds(10);
  /// Initiator: while nobody listens at the peer, the LLP connection is tried again for this long.
  stream::Duration refused_for{};
  /// Work that is posted so soon after octets were sent, without a wait of the loop in between, is
  /// sent before the next wait, or when it fills a TCP segment: so short FPDUs share segments (RFC 5044
  /// section 5.1). Work that is posted alone is sent at once.
  stream::Duration gathered_for{};
};

}  // namespace rnic::access
