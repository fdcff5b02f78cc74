// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Decision points of MPA startup (RFC 5044 section 7.1, RFC 6581).
#pragma once

#include "reference_rnic/stream/config.hpp"

namespace rnic::stream {

enum class State : std::uint8_t;

struct StartupDecisions {
  /// Whether FPDUs may be sent in this state (RFC 5044 section 7.1.2).
  virtual void may_send_fpdus(State, bool&) {}
  /// The depths in use when the consumer posts work: those agreed (RFC 6581 section 9.3).
  virtual void depths_in_use(Negotiated&) {}
};

}  // namespace rnic::stream
