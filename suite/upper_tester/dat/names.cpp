// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/dat/names.hpp"

namespace suite::upper_tester::dat {

const char* status_name(DAT_DTO_COMPLETION_STATUS status) {
  switch (status) {
    case DAT_DTO_SUCCESS:
      return "success";
    case DAT_DTO_ERR_FLUSHED:
      return "flushed";
    case DAT_DTO_ERR_LOCAL_LENGTH:
      return "local_length";
    case DAT_DTO_ERR_LOCAL_EP:
      return "local_operation";
    case DAT_DTO_ERR_LOCAL_PROTECTION:
      return "local_protection";
    case DAT_DTO_ERR_BAD_RESPONSE:
      return "bad_response";
    case DAT_DTO_ERR_REMOTE_ACCESS:
      return "remote_access";
    case DAT_DTO_ERR_REMOTE_RESPONDER:
      return "remote_operation";
    case DAT_RMR_OPERATION_FAILED:
      return "bind";
    default:
      return "other";
  }
}

const char* state_name(DAT_EP_STATE state) {
  switch (state) {
    case DAT_EP_STATE_UNCONNECTED:
    case DAT_EP_STATE_UNCONFIGURED_UNCONNECTED:
      return "idle";
    case DAT_EP_STATE_CONNECTED:
    case DAT_EP_STATE_CONNECTED_SINGLE_PATH:
    case DAT_EP_STATE_CONNECTED_MULTI_PATH:
      return "connected";
    case DAT_EP_STATE_DISCONNECT_PENDING:
      return "closing";
    case DAT_EP_STATE_DISCONNECTED:
      return "disconnected";
    default:
      return "connecting";
  }
}

const char* connect_failure_name(DAT_EVENT_NUMBER number) {
  switch (number) {
    case DAT_CONNECTION_EVENT_NON_PEER_REJECTED:
      return "refused";
    case DAT_CONNECTION_EVENT_TIMED_OUT:
      return "timeout";
    case DAT_CONNECTION_EVENT_UNREACHABLE:
      return "unreachable";
    case DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR:
      return "protocol";
    default:
      return "lost";
  }
}

DAT_MEM_PRIV_FLAGS privileges(const iut::Access& access) {
  unsigned flags = DAT_MEM_PRIV_LOCAL_READ_FLAG;
  if (access.local_write) flags |= DAT_MEM_PRIV_LOCAL_WRITE_FLAG;
  if (access.remote_read) flags |= DAT_MEM_PRIV_REMOTE_READ_FLAG;
  if (access.remote_write) flags |= DAT_MEM_PRIV_REMOTE_WRITE_FLAG;
  return static_cast<DAT_MEM_PRIV_FLAGS>(flags);
}

std::string return_text(const std::string& call, DAT_RETURN code) {
  const char *type = "an unknown return", *subtype = "";
  static_cast<void>(dat_strerror(code, &type, &subtype));
  const std::string more = subtype == nullptr ? "" : subtype;
  return call + ": " + type + (more.empty() ? "" : " " + more);
}

iut::Reply failed(const std::string& call, DAT_RETURN code) {
  const DAT_RETURN type = DAT_GET_TYPE(code);
  const std::string text = return_text(call, code);
  if (type == DAT_NOT_IMPLEMENTED || type == DAT_MODEL_NOT_SUPPORTED) return unsupported(text);
  return refused(text, static_cast<int>(type >> 16));
}

}  // namespace suite::upper_tester::dat
