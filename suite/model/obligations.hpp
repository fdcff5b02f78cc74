// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the IUT owes when it has had the time that it needs.
#pragma once

#include "suite/model/observed.hpp"

namespace suite::model {

/// Nothing is under way, and nothing more will happen unless somebody does something.
/// `acknowledged`: the IUT's LLP has taken all that was sent on this stream.
[[nodiscard]] Explained owes_nothing(const State& state, std::size_t stream, bool acknowledged);

}  // namespace suite::model
