// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A shared receive queue: receives for the messages of all its streams, and a limit that warns
// once.
#pragma once

#include <optional>
#include <utility>

#include "base/fifo.hpp"
#include "reference_rnic/verbs/rnic.hpp"

namespace rnic::verbs {

struct SharedQueue {
  SharedQueueHandle handle{};
  DomainHandle domain{};
  SharedQueueAttributes attributes{};
  base::Fifo<ReceiveRequest> waiting{};
  std::uint32_t limit = 0;  ///< 0: not armed
  std::uint32_t users = 0;  ///< queue pairs

  struct Taken {
    ReceiveRequest request;
    bool limit_passed = false;  ///< fewer wait now than the armed limit: one event is due
  };
  /// The receive that has waited longest, or the `last` one, for the next message of any stream;
  /// none if none waits. A limit that is passed is disarmed.
  [[nodiscard]] std::optional<Taken> take(bool last) {
    if (waiting.empty()) return std::nullopt;
    Taken taken{.request = std::move(last ? waiting.back() : waiting.front())};
    last ? waiting.pop_back() : waiting.pop_front();
    taken.limit_passed = waiting.size() < limit;
    if (taken.limit_passed) limit = 0;
    return taken;
  }
};

}  // namespace rnic::verbs
