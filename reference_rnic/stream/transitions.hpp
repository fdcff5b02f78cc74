// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The states a stream may pass through: one table, and the only function that changes a state.
#pragma once

#include "reference_rnic/stream/stream.hpp"

namespace rnic::stream {

/// Whether the table has the step `from` -> `to`.
[[nodiscard]] bool permitted(State from, State to);
/// Takes the step; a step that the table lacks is a defect of this library and ends in an assertion
/// that names what was expected.
void transition(State& state, State to);

}  // namespace rnic::stream
