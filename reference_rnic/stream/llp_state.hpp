// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The state of the LLP connection under a stream: which of its halves are open.
#pragma once

#include <cstdint>

namespace rnic::stream {

enum class LlpState : std::uint8_t {
  open,
  /// The peer's FIN has arrived.
  peer_closed,
  /// Our FIN is sent.
  half_closed,
  /// Both halves are closed, or the connection is lost or reset.
  closed,
  /// Nothing more can be sent: the owner is to reset the connection.
  to_be_reset,
};
[[nodiscard]] const char* name(LlpState state);

/// Whether our half can carry nothing more.
[[nodiscard]] constexpr bool our_half_closed(LlpState state) {
  return state == LlpState::half_closed || state == LlpState::closed;
}
[[nodiscard]] constexpr bool peer_half_closed(LlpState state) {
  return state == LlpState::peer_closed || state == LlpState::closed;
}

}  // namespace rnic::stream
