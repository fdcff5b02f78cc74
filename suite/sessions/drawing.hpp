// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Draws sessions: the same seed gives the same session on every machine.
#pragma once

#include "suite/sessions/session.hpp"

namespace suite::sessions {

[[nodiscard]] Session draw(std::uint64_t seed);

// Parts of sessions, for those that are not drawn as a whole.

/// So many streams, and what each has to work with: regions, mostly a receive, mostly a first FPDU.
[[nodiscard]] Session draw_opening(std::uint64_t seed, std::size_t streams);
[[nodiscard]] std::vector<Step> draw_steps(std::uint64_t seed, std::size_t count);

/// What can be odd or wrong in what the tester sends by this action; first `nothing`.
[[nodiscard]] std::vector<Wrong> wrongs_of(Action action);

}  // namespace suite::sessions
