// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The tables of the mapping.
#include "reference_rnic/dat/error_mapping.hpp"

#include <array>

namespace rnic::dat {

namespace {

/// The fault, the status with which the DTO in question completes, and the event of the connection's
/// end if the fault ends it. Faults that the peer finds come as a Terminate; the RNIC turns
/// a Terminate that names a request of ours into the status of that request.
struct Row {
  verbs::Status status;
  DAT_DTO_COMPLETION_STATUS dto;
};
constexpr std::array statuses{
    Row{verbs::Status::success, DAT_DTO_SUCCESS},
    Row{verbs::Status::flushed, DAT_DTO_ERR_FLUSHED},
    Row{verbs::Status::local_length, DAT_DTO_ERR_LOCAL_LENGTH},
    Row{verbs::Status::local_protection, DAT_DTO_ERR_LOCAL_PROTECTION},
    Row{verbs::Status::local_operation, DAT_DTO_ERR_LOCAL_EP},
    Row{verbs::Status::remote_access, DAT_DTO_ERR_REMOTE_ACCESS},        // 0/1/x, 1/1/x
    Row{verbs::Status::remote_operation, DAT_DTO_ERR_REMOTE_RESPONDER},  // 0/2/x, 1/2/x
    Row{verbs::Status::bad_response, DAT_DTO_ERR_BAD_RESPONSE},
    Row{verbs::Status::invalidation, DAT_DTO_ERR_LOCAL_PROTECTION},
    Row{verbs::Status::bind, DAT_RMR_OPERATION_FAILED},
};

/// The Terminate that a consumer causes by an abrupt disconnect with work outstanding: RDMAP, local
/// catastrophic error.
bool is_abrupt_disconnect(const wire::TerminateCause& cause) {
  return cause.layer == 0 && cause.type == 0;
}

}  // namespace

DAT_DTO_COMPLETION_STATUS dto_status(verbs::Status status) {
  for (const Row& row : statuses)
    if (row.status == status) return row.dto;
  return DAT_DTO_ERR_TRANSPORT;
}

DAT_EVENT_NUMBER end_event(const EndCause& cause) {
  const bool meant = cause.orderly || cause.asked_here ||
                     (cause.received && is_abrupt_disconnect(*cause.received));
  return meant ? DAT_CONNECTION_EVENT_DISCONNECTED : DAT_CONNECTION_EVENT_BROKEN;
}

DAT_EVENT_NUMBER connect_event(access::ConnectFailure failure, bool limited) {
  switch (failure) {
    case access::ConnectFailure::unreachable:
      return DAT_CONNECTION_EVENT_UNREACHABLE;
    case access::ConnectFailure::timeout:
      return limited ? DAT_CONNECTION_EVENT_TIMED_OUT : DAT_CONNECTION_EVENT_UNREACHABLE;
    case access::ConnectFailure::refused:
    case access::ConnectFailure::protocol:
    case access::ConnectFailure::lost:
      break;
  }
  return DAT_CONNECTION_EVENT_NON_PEER_REJECTED;
}

DAT_RETURN post_return(verbs::Error error) {
  switch (error) {
    case verbs::Error::invalid_handle:
      return failure(DAT_INVALID_HANDLE);
    case verbs::Error::wrong_domain:
      return failure(DAT_PROTECTION_VIOLATION);
    case verbs::Error::invalid_parameter:
    case verbs::Error::unsupported:
      return failure(DAT_INVALID_PARAMETER);
    case verbs::Error::invalid_state:
    case verbs::Error::in_use:
      return failure(DAT_INVALID_STATE);
    case verbs::Error::no_resources:
    case verbs::Error::queue_full:
    case verbs::Error::overflowed:
      break;
  }
  return failure(DAT_INSUFFICIENT_RESOURCES);
}

}  // namespace rnic::dat
