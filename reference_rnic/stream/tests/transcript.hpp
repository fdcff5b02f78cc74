// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Everything that an outsider or the consumer can see of a run, as text: two runs with the same
// transcript behaved alike.
#pragma once

#include <string>

#include "reference_rnic/stream/tests/hex_octets.hpp"
#include "reference_rnic/stream/tests/stream_pair.hpp"

namespace rnic::stream::test {

[[nodiscard]] std::string describe(const Event& event);

/// Octets sent, events, and how it wants to close.
template <typename Policy>
[[nodiscard]] std::string transcript(const End<Policy>& end) {
  std::string text = "sent " + hex(end.sent) + "\n";
  for (const Event& event : end.events) text += describe(event) + "\n";
  text += "closing " + std::to_string(static_cast<int>(end.stream.closing())) + " state " +
          name(end.stream.state()) + (end.reset ? " reset" : "") +
          (end.closed_half ? " closed" : "") + "\n";
  text += "wakeup " + std::to_string(end.stream.next_wakeup().has_value()) + " receives " +
          std::to_string(end.memory.receives_left()) + "\n";
  for (const std::uint32_t stag : end.memory.invalidated())
    text += "invalidated " + std::to_string(stag) + "\n";
  return text + end.memory.dump();
}

}  // namespace rnic::stream::test
