// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The states of a queue pair, and the one function that changes them.
#pragma once

#include <optional>

#include "reference_rnic/verbs/rnic.hpp"

namespace rnic::verbs {

enum class StateInput : std::uint8_t {
  established,   ///< the stream may transfer
  close_asked,   ///< orderly close, by the consumer or because the peer closed
  fault,         ///< a Terminate was sent or received, or the stream broke
  stream_ended,  ///< the stream has ended
  error_asked,   ///< the consumer asks an unattached queue pair to flush
  reset_asked,   ///< the consumer wants to use it again
};
[[nodiscard]] const char* name(StateInput input);

/// The state after `input`, or nothing if that input is not allowed in this state.
///
/// In the RDMA Protocol Verbs closing leads to idle. Here every stream that was up ends in error:
/// work that is posted later completes as flushed until the consumer resets the queue pair, instead
/// of waiting for a stream that never comes.
[[nodiscard]] std::optional<QueuePairState> next_state(QueuePairState state, StateInput input);

}  // namespace rnic::verbs
