// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What deviants of the receiving side examine in a segment.
#pragma once

#include "reference_rnic/stream/incoming.hpp"

namespace rnic::deviants {

[[nodiscard]] inline bool same(rules::RuleId a, rules::RuleId b) { return a.id == b.id; }

[[nodiscard]] inline wire::Opcode opcode_of(const stream::Incoming& incoming) {
  return incoming.segment.rdmap().opcode();
}

/// Whether the segment is an untagged one on this queue.
[[nodiscard]] inline bool is_on(const stream::Incoming& incoming, wire::Queue queue) {
  return !incoming.segment.tagged &&
         incoming.segment.untagged_header.queue_number.value() == static_cast<std::uint32_t>(queue);
}

[[nodiscard]] inline bool is_atomic(wire::Opcode opcode) {
  return opcode == wire::Opcode::atomic_request || opcode == wire::Opcode::atomic_response;
}

}  // namespace rnic::deviants
