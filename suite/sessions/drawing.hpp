// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Draws sessions: the same seed gives the same session on every machine.
#pragma once

#include "suite/sessions/session.hpp"

namespace suite::sessions {

[[nodiscard]] Session draw(std::uint64_t seed);

}  // namespace suite::sessions
