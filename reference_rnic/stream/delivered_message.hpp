// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An untagged message as DDP delivers it to RDMAP (RFC 5041 section 5.4).
#pragma once

#include <cstdint>
#include <optional>

#include "reference_rnic/wire/ddp.hpp"

namespace rnic::stream {

struct DeliveredMessage {
  wire::Queue queue = wire::Queue::send;
  std::size_t length = 0;
  /// Of messages that RDMAP itself processes, and of Immediate Data.
  wire::Bytes octets;
  /// Of the receive buffer, if the message took one.
  std::optional<std::uint64_t> work_id;
};

}  // namespace rnic::stream
