// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A shared receive queue: receives that whichever stream comes first takes, and a limit that warns
// once.
#pragma once

#include <deque>
#include <optional>

#include "reference_rnic/verbs/rnic.hpp"

namespace rnic::verbs {

struct SharedQueue {
  SharedQueueHandle handle{};
  DomainHandle domain{};
  SharedQueueAttributes attributes{};
  std::deque<ReceiveRequest> waiting{};
  std::uint32_t limit = 0;  ///< 0: not armed
  std::uint32_t users = 0;  ///< queue pairs

  /// True if fewer receives wait than the armed limit, which is then disarmed: one event is due.
  [[nodiscard]] bool limit_passed() {
    if (waiting.size() >= limit) return false;
    limit = 0;
    return true;
  }
};

}  // namespace rnic::verbs
