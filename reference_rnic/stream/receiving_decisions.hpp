// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Decision points of what DDP and RDMAP receive, and how a stream ends (RFC 5041 section 7, RFC 5040 sections 5 to 7).
#pragma once

#include <cstdint>

namespace rnic::stream {

enum class Closing : std::uint8_t;
enum class State : std::uint8_t;

struct ReceivingDecisions {
  /// What the owner does with the LLP connection now (RFC 5040 section 6.2).
  virtual void closing(State, Closing&) {}
};

}  // namespace rnic::stream
