// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Decision points of MPA framing in both directions (RFC 5044 sections 4 to 6).
#pragma once

#include "reference_rnic/wire/bytes.hpp"

namespace rnic::stream {

struct FramingDecisions {
  /// Octets after an error, which are dropped (RFC 5044 section 8).
  virtual void octets_dropped(wire::Bytes) {}
};

}  // namespace rnic::stream
