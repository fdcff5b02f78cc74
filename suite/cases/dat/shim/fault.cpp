// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/dat/shim/fault.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace suite::cases::dat::shim {

namespace {

constexpr std::array kinds{
    std::pair{std::string_view("returns"), Kind::returns},
    std::pair{std::string_view("error"), Kind::error},
    std::pair{std::string_view("out_zero"), Kind::out_zero},
    std::pair{std::string_view("out_other"), Kind::out_other},
    std::pair{std::string_view("in_other"), Kind::in_other},
    std::pair{std::string_view("swallow"), Kind::swallow},
    std::pair{std::string_view("answers"), Kind::answers},
    std::pair{std::string_view("event_drop"), Kind::event_drop},
    std::pair{std::string_view("event_again"), Kind::event_again},
    std::pair{std::string_view("event_number"), Kind::event_number},
    std::pair{std::string_view("event_status"), Kind::event_status},
    std::pair{std::string_view("event_cookie"), Kind::event_cookie},
    std::pair{std::string_view("event_length"), Kind::event_length},
    std::pair{std::string_view("event_operation"), Kind::event_operation},
    std::pair{std::string_view("event_context"), Kind::event_context},
    std::pair{std::string_view("event_handle"), Kind::event_handle},
    std::pair{std::string_view("event_data"), Kind::event_data},
};

bool is_of_events(Kind kind) { return kind >= Kind::event_drop; }

bool is_its_turn(std::atomic<unsigned>& count) {
  const unsigned number = ++count;
  return the_fault().nth == 0 || the_fault().nth == number;
}

bool alter(DAT_DTO_COMPLETION_EVENT_DATA& data, Kind kind) {
  switch (kind) {
    case Kind::event_status:
      data.status = data.status == DAT_DTO_SUCCESS ? DAT_DTO_ERR_TRANSPORT : DAT_DTO_SUCCESS;
      return true;
    case Kind::event_cookie:
      ++data.user_cookie.as_64;
      return true;
    case Kind::event_length:
      ++data.transfered_length;
      return true;
    case Kind::event_operation:
      data.operation = data.operation == DAT_DTO_SEND ? DAT_DTO_RDMA_WRITE : DAT_DTO_SEND;
      return true;
    case Kind::event_context:
      ++data.rmr_context;
      return true;
    case Kind::event_handle:
      data.ep_handle = DAT_HANDLE_NULL;
      return true;
    default:
      return false;
  }
}

bool alter(DAT_RMR_BIND_COMPLETION_EVENT_DATA& data, Kind kind) {
  switch (kind) {
    case Kind::event_status:
      data.status = data.status == DAT_DTO_SUCCESS ? DAT_RMR_OPERATION_FAILED : DAT_DTO_SUCCESS;
      return true;
    case Kind::event_cookie:
      ++data.user_cookie.as_64;
      return true;
    case Kind::event_handle:
      data.rmr_handle = DAT_HANDLE_NULL;
      return true;
    default:
      return false;
  }
}

bool alter(DAT_CR_ARRIVAL_EVENT_DATA& data, Kind kind) {
  switch (kind) {
    case Kind::event_handle:
      data.sp_handle.psp_handle = DAT_HANDLE_NULL;
      return true;
    case Kind::event_context:
      ++data.conn_qual;
      return true;
    case Kind::event_status:
      data.truncate_flag = data.truncate_flag == DAT_TRUE ? DAT_FALSE : DAT_TRUE;
      return true;
    case Kind::event_data:
      data.local_ia_address_ptr = nullptr;
      return true;
    default:
      return false;
  }
}

/// The private data of an event; for the event of an end, which has none, those of the acceptance.
bool alter_private_data(const DAT_CONNECTION_EVENT_DATA& data) {
  static DAT_CONNECTION_EVENT_DATA accepted{};
  const bool has_some = data.private_data != nullptr && data.private_data_size > 0;
  if (!has_some && (data.ep_handle != accepted.ep_handle || accepted.private_data == nullptr))
    return false;
  *static_cast<unsigned char*>(has_some ? data.private_data : accepted.private_data) ^= 1U;
  accepted = has_some ? data : DAT_CONNECTION_EVENT_DATA{};
  return true;
}

bool alter(DAT_CONNECTION_EVENT_DATA& data, Kind kind) {
  switch (kind) {
    case Kind::event_handle:
      data.ep_handle = DAT_HANDLE_NULL;
      return true;
    case Kind::event_length:
      data.private_data_size = data.private_data_size > 0 ? data.private_data_size - 1 : 0;
      return true;
    case Kind::event_data:
      return alter_private_data(data);
    default:
      return false;
  }
}

}  // namespace

namespace {

template <typename Number>
bool read(std::string_view text, Number& number) {
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::optional<Fault> parse_fault(std::string_view text) {
  Fault fault;
  bool has_kind = false;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const std::size_t sign = word.find('=');
    if (sign == std::string_view::npos) return std::nullopt;
    const std::string_view name = word.substr(0, sign), value = word.substr(sign + 1);
    if (name == "call") {
      fault.call = value;
    } else if (name == "nth") {
      if (!read(value, fault.nth)) return std::nullopt;
    } else if (name == "code") {
      if (!read(value, fault.code)) return std::nullopt;
    } else if (name == "kind") {
      for (const auto& [known, kind] : kinds)
        if (known == value) {
          fault.kind = kind;
          has_kind = true;
        }
    } else {
      return std::nullopt;
    }
  }
  if (!has_kind || is_of_events(fault.kind) != fault.call.empty()) return std::nullopt;
  if ((fault.kind == Kind::answers) != (fault.code != 0)) return std::nullopt;
  return fault;
}

const Fault& the_fault() {
  static const Fault fault = [] {
    const char* text = std::getenv("RNIC_DAT_FAULT");
    const auto parsed = parse_fault(text == nullptr ? "" : text);
    if (!parsed) {
      std::fputs("librnic_dat_shim: RNIC_DAT_FAULT is call=CALL,kind=KIND[,nth=N][,code=TYPE]\n",
                 stderr);
      std::_Exit(2);
    }
    return *parsed;
  }();
  return fault;
}

bool strikes(std::string_view name) {
  static std::atomic<unsigned> count = 0;
  return the_fault().call == name && is_its_turn(count);
}

bool strikes_event() {
  static std::atomic<unsigned> count = 0;
  return is_of_events(the_fault().kind) && is_its_turn(count);
}

DAT_RETURN another_class(DAT_RETURN code) {
  return code == DAT_SUCCESS ? undocumented_error : static_cast<DAT_RETURN>(DAT_SUCCESS);
}

bool alter(DAT_EVENT& event, Kind kind) {
  if (kind == Kind::event_number) {
    const bool ended = event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED;
    event.event_number = ended ? DAT_CONNECTION_EVENT_BROKEN : DAT_CONNECTION_EVENT_DISCONNECTED;
    return true;
  }
  const unsigned number = event.event_number;
  if (number == DAT_DTO_COMPLETION_EVENT)
    return alter(event.event_data.dto_completion_event_data, kind);
  if (number == DAT_RMR_BIND_COMPLETION_EVENT)
    return alter(event.event_data.rmr_completion_event_data, kind);
  if (number == DAT_CONNECTION_REQUEST_EVENT)
    return alter(event.event_data.cr_arrival_event_data, kind);
  if ((number & 0xFF000U) == 0x4000U) return alter(event.event_data.connect_event_data, kind);
  if (number == DAT_SOFTWARE_EVENT && kind == Kind::event_data) {
    event.event_data.software_event_data.pointer = nullptr;
    return true;
  }
  if (kind == Kind::event_handle) {
    event.event_data.asynch_error_event_data.dat_handle = DAT_HANDLE_NULL;
    return true;
  }
  if (kind == Kind::event_status) {
    ++event.event_data.asynch_error_event_data.reason;
    return true;
  }
  return false;
}

}  // namespace suite::cases::dat::shim
