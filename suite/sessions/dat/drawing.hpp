// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Draws sessions of the DAT API: the same seed gives the same session on every machine.
#pragma once

#include "suite/sessions/dat/session.hpp"

namespace suite::sessions::dat {

[[nodiscard]] Session draw(std::uint64_t seed);

}  // namespace suite::sessions::dat
