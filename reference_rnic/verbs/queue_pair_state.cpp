// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The transition table of a queue pair.
#include "reference_rnic/verbs/queue_pair_state.hpp"

namespace rnic::verbs {

std::optional<QueuePairState> next_state(QueuePairState state, StateInput input) {
  using enum QueuePairState;
  using enum StateInput;
  switch (state) {
    case idle:
      if (input == established) return rts;
      if (input == fault) return terminate;
      if (input == stream_ended || input == error_asked) return error;
      if (input == reset_asked) return idle;
      break;
    case rts:
    case closing:
      if (input == close_asked) return closing;
      if (input == fault) return terminate;
      if (input == stream_ended) return error;
      break;
    case terminate:
      if (input == close_asked || input == fault) return terminate;
      if (input == stream_ended) return error;
      break;
    case error:
      if (input == stream_ended || input == error_asked) return error;
      if (input == reset_asked) return idle;
      break;
  }
  return std::nullopt;
}

}  // namespace rnic::verbs
