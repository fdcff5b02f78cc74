// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How the consumer APIs set up what they run on.
#pragma once

#include <cstdint>

#include "base/event_loop.hpp"
#include "reference_rnic/access/startup_options.hpp"
#include "reference_rnic/verbs/soft_rnic.hpp"

namespace rnic::access {

/// The clock and the callbacks of an RNIC that runs in this loop, which outlives it.
[[nodiscard]] verbs::Host host_in(base::EventLoop& loop);

/// A seed for STags that peers cannot know, so that they cannot guess STags (RFC 5042 section 8.1.1).
[[nodiscard]] std::uint64_t secret_seed();

/// The startup of a connection whose both sides may send once it is reported to them: RFC 6581 with
/// all its means.
[[nodiscard]] StartupOptions consumer_startup();

}  // namespace rnic::access
