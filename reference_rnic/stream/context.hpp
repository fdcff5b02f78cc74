// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What all parts of one stream share: its configuration, the memory it works on, what startup
// agreed on, and its events.
#pragma once

#include <utility>
#include <vector>

#include "base/fifo.hpp"
#include "reference_rnic/stream/decisions.hpp"
#include "reference_rnic/stream/memory.hpp"
#include "reference_rnic/stream/scratch.hpp"
#include "reference_rnic/stream/stream.hpp"

namespace rnic::stream {

struct Context {
  Config config;
  Memory& memory;
  Scratch& scratch;
  StreamDecisions decisions;
  Negotiated negotiated;
  base::Fifo<Event> events;

  /// Reports the outcome of startup.
  void report_startup(Event event) {
    if (decisions.empty()) return events.push_back(std::move(event));
    std::vector<Event> reported{std::move(event)};
    decisions.ask(&Decisions::startup_reported, reported);
    for (Event& each : reported) events.push_back(std::move(each));
  }
};

}  // namespace rnic::stream
