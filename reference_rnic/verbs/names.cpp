// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The texts for the enumerators of verbs.
#include "reference_rnic/verbs/queue_pair_state.hpp"
#include "reference_rnic/verbs/rnic.hpp"

namespace rnic::verbs {

const char* name(Error error) {
  switch (error) {
    case Error::invalid_handle:
      return "invalid handle";
    case Error::invalid_parameter:
      return "invalid parameter";
    case Error::invalid_state:
      return "invalid state";
    case Error::in_use:
      return "object in use";
    case Error::wrong_domain:
      return "objects of different protection domains";
    case Error::no_resources:
      return "out of resources";
    case Error::queue_full:
      return "queue full";
    case Error::overflowed:
      return "completion queue overflowed";
    case Error::unsupported:
      return "unsupported";
  }
  return "?";
}

const char* name(Operation operation) {
  switch (operation) {
    case Operation::send:
      return "send";
    case Operation::send_solicited:
      return "send_solicited";
    case Operation::send_invalidate:
      return "send_invalidate";
    case Operation::send_solicited_invalidate:
      return "send_solicited_invalidate";
    case Operation::write:
      return "write";
    case Operation::read:
      return "read";
    case Operation::read_invalidate:
      return "read_invalidate";
    case Operation::fetch_add:
      return "fetch_add";
    case Operation::compare_swap:
      return "compare_swap";
    case Operation::immediate:
      return "immediate";
    case Operation::immediate_solicited:
      return "immediate_solicited";
    case Operation::local_invalidate:
      return "local_invalidate";
    case Operation::bind_window:
      return "bind_window";
    case Operation::register_region:
      return "register_region";
    case Operation::receive:
      return "receive";
  }
  return "?";
}

const char* name(Status status) {
  switch (status) {
    case Status::success:
      return "success";
    case Status::flushed:
      return "flushed";
    case Status::local_length:
      return "local_length";
    case Status::local_protection:
      return "local_protection";
    case Status::local_operation:
      return "local_operation";
    case Status::remote_access:
      return "remote_access";
    case Status::remote_operation:
      return "remote_operation";
    case Status::bad_response:
      return "bad_response";
    case Status::invalidation:
      return "invalidation";
    case Status::bind:
      return "bind";
  }
  return "?";
}

const char* name(QueuePairState state) {
  switch (state) {
    case QueuePairState::idle:
      return "idle";
    case QueuePairState::rts:
      return "rts";
    case QueuePairState::closing:
      return "closing";
    case QueuePairState::terminate:
      return "terminate";
    case QueuePairState::error:
      return "error";
  }
  return "?";
}

const char* name(AsyncKind kind) {
  switch (kind) {
    case AsyncKind::queue_pair_fatal:
      return "queue pair: stream broken";
    case AsyncKind::queue_pair_access_error:
      return "queue pair: access violation by the peer";
    case AsyncKind::queue_pair_request_error:
      return "queue pair: faulty message of the peer";
    case AsyncKind::terminate_received:
      return "queue pair: Terminate received";
    case AsyncKind::last_buffer:
      return "queue pair: last buffer given back";
    case AsyncKind::completion_queue_error:
      return "completion queue: overflow";
    case AsyncKind::shared_queue_limit:
      return "shared receive queue: limit reached";
    case AsyncKind::device_fatal:
      return "RNIC: fatal";
  }
  return "?";
}

const char* name(StateInput input) {
  switch (input) {
    case StateInput::established:
      return "established";
    case StateInput::close_asked:
      return "close requested";
    case StateInput::fault:
      return "fault";
    case StateInput::stream_ended:
      return "stream ended";
    case StateInput::error_asked:
      return "error requested";
    case StateInput::reset_asked:
      return "reset requested";
  }
  return "?";
}

}  // namespace rnic::verbs
