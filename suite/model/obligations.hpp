// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the IUT must have done after the time that it needs.
#pragma once

#include "suite/model/observed.hpp"

namespace suite::model {

/// Nothing is in progress, and nothing more will happen without a new input. `acknowledged`: the
/// IUT's LLP has received everything that was sent on this stream.
[[nodiscard]] Explained owes_nothing(const State& state, std::size_t stream, bool acknowledged);

}  // namespace suite::model
