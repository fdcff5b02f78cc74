// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The states that a stream, its set-up and its LLP connection may pass through: a table for each, and
// the only functions that change a state.
#pragma once

#include "reference_rnic/stream/llp_state.hpp"
#include "reference_rnic/stream/set_up.hpp"
#include "reference_rnic/stream/stream.hpp"

namespace rnic::stream {

/// Whether the table has the step `from` -> `to`.
[[nodiscard]] bool permitted(State from, State to);
[[nodiscard]] bool permitted(LlpState from, LlpState to);
[[nodiscard]] bool permitted(SetUp from, SetUp to);
/// Takes the step; a step that is not in the table is a defect of this library and ends in an
/// assertion that names what was expected.
void transition(State& state, State to);
void transition(LlpState& state, LlpState to);
void transition(SetUp& state, SetUp to);

}  // namespace rnic::stream
