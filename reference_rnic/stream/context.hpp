// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What all parts of one stream share: its configuration, the memory it works on, what startup
// agreed, and its news.
#pragma once

#include <deque>

#include "reference_rnic/stream/decisions.hpp"
#include "reference_rnic/stream/memory.hpp"
#include "reference_rnic/stream/stream.hpp"

namespace rnic::stream {

struct Context {
  Config config;
  Memory& memory;
  StreamDecisions decisions;
  Negotiated negotiated;
  std::deque<Event> events;

  [[nodiscard]] bool deviates(Deviation deviation) const { return decisions.deviates(deviation); }
};

}  // namespace rnic::stream
