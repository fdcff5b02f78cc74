// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What all parts of one stream share: its configuration, the memory it works on, what startup
// agreed, and its news.
#pragma once

#include <deque>

#include "reference_rnic/stream/deviation.hpp"
#include "reference_rnic/stream/memory.hpp"
#include "reference_rnic/stream/stream.hpp"

namespace rnic::stream {

template <typename Policy>
struct Context {
  Config config;
  Memory& memory;
  Policy policy;
  Negotiated negotiated;
  std::deque<Event> events;

  [[nodiscard]] bool deviates(Deviation deviation) const { return policy.deviates(deviation); }
};

}  // namespace rnic::stream
