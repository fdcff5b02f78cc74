// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How far the connection under a stream is set up: whether FPDUs are exchanged on it, and whether
// the outcome has been reported to the consumer.
#pragma once

#include <cstdint>

namespace rnic::stream {

enum class SetUp : std::uint8_t {
  /// Neither.
  under_way,
  /// The outcome has been reported: the connection is established, or why not. The Responder still
  /// waits for the Initiator's first FPDU (RFC 5044 section 7.1.2).
  reported,
  /// The Reply, or the Initiator's first FPDU, has arrived. The report is due: in the peer-to-peer
  /// model after the RTR (RFC 6581 section 9.2).
  exchanging_fpdus,
  /// Both.
  complete,
};
[[nodiscard]] const char* name(SetUp set_up);

/// Whether the state of the set-up allows a Terminate (RFC 5044 section 7.1.2).
[[nodiscard]] constexpr bool exchanges_fpdus(SetUp set_up) {
  return set_up == SetUp::exchanging_fpdus || set_up == SetUp::complete;
}
[[nodiscard]] constexpr bool is_reported(SetUp set_up) {
  return set_up == SetUp::reported || set_up == SetUp::complete;
}

}  // namespace rnic::stream
