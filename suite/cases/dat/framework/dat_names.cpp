// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/dat/framework/dat_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace suite::cases::dat {

namespace {

template <typename Number, std::size_t Size>
std::string look_up(const std::array<std::pair<Number, const char*>, Size>& table, Number number) {
  const auto found = std::ranges::find(table, number, &std::pair<Number, const char*>::first);
  return found != table.end() ? found->second
                              : fmt::format("{:#x}", static_cast<unsigned long long>(number));
}

#define NAMED(name) \
  std::pair { name, #name }

constexpr std::array types{
    NAMED(DAT_SUCCESS),
    NAMED(DAT_ABORT),
    NAMED(DAT_CONN_QUAL_IN_USE),
    NAMED(DAT_INSUFFICIENT_RESOURCES),
    NAMED(DAT_INTERNAL_ERROR),
    NAMED(DAT_INVALID_HANDLE),
    NAMED(DAT_INVALID_PARAMETER),
    NAMED(DAT_INVALID_STATE),
    NAMED(DAT_LENGTH_ERROR),
    NAMED(DAT_MODEL_NOT_SUPPORTED),
    NAMED(DAT_PROVIDER_NOT_FOUND),
    NAMED(DAT_PRIVILEGES_VIOLATION),
    NAMED(DAT_PROTECTION_VIOLATION),
    NAMED(DAT_QUEUE_EMPTY),
    NAMED(DAT_QUEUE_FULL),
    NAMED(DAT_TIMEOUT_EXPIRED),
    NAMED(DAT_PROVIDER_ALREADY_REGISTERED),
    NAMED(DAT_PROVIDER_IN_USE),
    NAMED(DAT_INVALID_ADDRESS),
    NAMED(DAT_INTERRUPTED_CALL),
    NAMED(DAT_CONN_QUAL_UNAVAILABLE),
    NAMED(DAT_PORT_IN_USE),
    NAMED(DAT_COMM_NOT_SUPPORTED),
    NAMED(DAT_NOT_IMPLEMENTED),
};

constexpr std::array states{
    NAMED(DAT_EP_STATE_UNCONNECTED),
    NAMED(DAT_EP_STATE_UNCONFIGURED_UNCONNECTED),
    NAMED(DAT_EP_STATE_RESERVED),
    NAMED(DAT_EP_STATE_UNCONFIGURED_RESERVED),
    NAMED(DAT_EP_STATE_PASSIVE_CONNECTION_PENDING),
    NAMED(DAT_EP_STATE_UNCONFIGURED_PASSIVE),
    NAMED(DAT_EP_STATE_ACTIVE_CONNECTION_PENDING),
    NAMED(DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING),
    NAMED(DAT_EP_STATE_UNCONFIGURED_TENTATIVE),
    NAMED(DAT_EP_STATE_CONNECTED),
    NAMED(DAT_EP_STATE_DISCONNECT_PENDING),
    NAMED(DAT_EP_STATE_DISCONNECTED),
    NAMED(DAT_EP_STATE_COMPLETION_PENDING),
    NAMED(DAT_EP_STATE_CONNECTED_SINGLE_PATH),
    NAMED(DAT_EP_STATE_CONNECTED_MULTI_PATH),
};

constexpr std::array events{
    NAMED(DAT_DTO_COMPLETION_EVENT),
    NAMED(DAT_RMR_BIND_COMPLETION_EVENT),
    NAMED(DAT_CONNECTION_REQUEST_EVENT),
    NAMED(DAT_CONNECTION_EVENT_ESTABLISHED),
    NAMED(DAT_CONNECTION_EVENT_PEER_REJECTED),
    NAMED(DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
    NAMED(DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR),
    NAMED(DAT_CONNECTION_EVENT_DISCONNECTED),
    NAMED(DAT_CONNECTION_EVENT_BROKEN),
    NAMED(DAT_CONNECTION_EVENT_TIMED_OUT),
    NAMED(DAT_CONNECTION_EVENT_UNREACHABLE),
    NAMED(DAT_ASYNC_ERROR_EVD_OVERFLOW),
    NAMED(DAT_ASYNC_ERROR_IA_CATASTROPHIC),
    NAMED(DAT_ASYNC_ERROR_EP_BROKEN),
    NAMED(DAT_ASYNC_ERROR_TIMED_OUT),
    NAMED(DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR),
    NAMED(DAT_HA_DOWN_TO_1),
    NAMED(DAT_HA_UP_TO_MULTI_PATH),
    NAMED(DAT_SOFTWARE_EVENT),
    NAMED(DAT_EXTENSION_EVENT),
};

constexpr std::array statuses{
    NAMED(DAT_DTO_SUCCESS),
    NAMED(DAT_DTO_ERR_FLUSHED),
    NAMED(DAT_DTO_ERR_LOCAL_LENGTH),
    NAMED(DAT_DTO_ERR_LOCAL_EP),
    NAMED(DAT_DTO_ERR_LOCAL_PROTECTION),
    NAMED(DAT_DTO_ERR_BAD_RESPONSE),
    NAMED(DAT_DTO_ERR_REMOTE_ACCESS),
    NAMED(DAT_DTO_ERR_REMOTE_RESPONDER),
    NAMED(DAT_DTO_ERR_TRANSPORT),
    NAMED(DAT_DTO_ERR_RECEIVER_NOT_READY),
    NAMED(DAT_DTO_ERR_PARTIAL_PACKET),
    NAMED(DAT_RMR_OPERATION_FAILED),
    NAMED(DAT_DTO_ERR_LOCAL_MM_ERROR),
};

#undef NAMED

}  // namespace

std::string type_text(DAT_RETURN type) {
  return look_up(types, static_cast<DAT_RETURN_TYPE>(DAT_GET_TYPE(type)));
}
std::string return_text(DAT_RETURN code) {
  const auto subtype = static_cast<unsigned>(DAT_GET_SUBTYPE(code));
  std::string text = type_text(code);
  if (subtype != 0) text += fmt::format(" (subtype {})", subtype);
  if (!DAT_IS_WARNING(code) && (code & DAT_CLASS_ERROR) == 0 && DAT_GET_TYPE(code) != DAT_SUCCESS)
    text += " without its class bit";
  return text;
}
std::string state_text(DAT_EP_STATE state) { return look_up(states, state); }
std::string event_text(DAT_EVENT_NUMBER number) { return look_up(events, number); }
std::string status_text(DAT_DTO_COMPLETION_STATUS status) { return look_up(statuses, status); }

}  // namespace suite::cases::dat
