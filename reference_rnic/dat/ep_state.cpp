// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The transition table of an Endpoint.
#include "reference_rnic/dat/ep_state.hpp"

#include <array>

namespace rnic::dat {

namespace {

struct Row {
  DAT_EP_STATE from;
  EpInput input;
  DAT_EP_STATE to;
};

constexpr auto unconnected = DAT_EP_STATE_UNCONNECTED;
constexpr auto reserved = DAT_EP_STATE_RESERVED;
constexpr auto passive = DAT_EP_STATE_PASSIVE_CONNECTION_PENDING;
constexpr auto active = DAT_EP_STATE_ACTIVE_CONNECTION_PENDING;
constexpr auto tentative = DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING;
constexpr auto completing = DAT_EP_STATE_COMPLETION_PENDING;
constexpr auto connected = DAT_EP_STATE_CONNECTED;
constexpr auto disconnecting = DAT_EP_STATE_DISCONNECT_PENDING;
constexpr auto disconnected = DAT_EP_STATE_DISCONNECTED;

constexpr std::array transitions{
    Row{unconnected, EpInput::connect_asked, active},
    Row{unconnected, EpInput::reserved, reserved},
    Row{unconnected, EpInput::accepted_here, completing},
    Row{unconnected, EpInput::reset_asked, unconnected},

    Row{reserved, EpInput::reservation_freed, unconnected},
    Row{reserved, EpInput::request_came, passive},
    Row{passive, EpInput::accepted_here, completing},
    Row{passive, EpInput::rejected_here, unconnected},
    Row{tentative, EpInput::accepted_here, completing},

    Row{active, EpInput::established, connected},
    Row{active, EpInput::not_established, disconnected},
    Row{active, EpInput::disconnect_asked, disconnected},
    Row{completing, EpInput::established, connected},
    Row{completing, EpInput::not_established, disconnected},
    Row{completing, EpInput::disconnect_asked, disconnected},

    Row{connected, EpInput::disconnect_asked, disconnecting},
    Row{connected, EpInput::ended, disconnected},
    Row{disconnecting, EpInput::disconnect_asked, disconnecting},
    Row{disconnecting, EpInput::ended, disconnected},

    Row{disconnected, EpInput::disconnect_asked, disconnected},
    Row{disconnected, EpInput::reset_asked, unconnected},
};

}  // namespace

std::optional<DAT_EP_STATE> next_state(DAT_EP_STATE state, EpInput input) {
  for (const Row& row : transitions)
    if (row.from == state && row.input == input) return row.to;
  return std::nullopt;
}

DAT_EP_STATE shown_state(DAT_EP_STATE state, bool configured) {
  if (configured) return state;
  switch (state) {
    case unconnected:
      return DAT_EP_STATE_UNCONFIGURED_UNCONNECTED;
    case reserved:
      return DAT_EP_STATE_UNCONFIGURED_RESERVED;
    case passive:
      return DAT_EP_STATE_UNCONFIGURED_PASSIVE;
    case tentative:
      return DAT_EP_STATE_UNCONFIGURED_TENTATIVE;
    default:
      return state;
  }
}

DAT_RETURN invalid_state(DAT_EP_STATE state) {
  const auto subtype = [&] {
    switch (state) {
      case unconnected:
        return DAT_INVALID_STATE_EP_UNCONNECTED;
      case DAT_EP_STATE_UNCONFIGURED_UNCONNECTED:
        return DAT_INVALID_STATE_EP_UNCONFIGURED;
      case reserved:
        return DAT_INVALID_STATE_EP_RESERVED;
      case DAT_EP_STATE_UNCONFIGURED_RESERVED:
        return DAT_INVALID_STATE_EP_UNCONFRESERVED;
      case passive:
        return DAT_INVALID_STATE_EP_PASSCONNPENDING;
      case DAT_EP_STATE_UNCONFIGURED_PASSIVE:
        return DAT_INVALID_STATE_EP_UNCONFPASSIVE;
      case active:
        return DAT_INVALID_STATE_EP_ACTCONNPENDING;
      case tentative:
        return DAT_INVALID_STATE_EP_TENTCONNPENDING;
      case DAT_EP_STATE_UNCONFIGURED_TENTATIVE:
        return DAT_INVALID_STATE_EP_UNCONFTENTATIVE;
      case connected:
      case DAT_EP_STATE_CONNECTED_SINGLE_PATH:
      case DAT_EP_STATE_CONNECTED_MULTI_PATH:
        return DAT_INVALID_STATE_EP_CONNECTED;
      case disconnecting:
        return DAT_INVALID_STATE_EP_DISCPENDING;
      case disconnected:
        return DAT_INVALID_STATE_EP_DISCONNECTED;
      case completing:
        return DAT_INVALID_STATE_EP_COMPLPENDING;
    }
    return DAT_NO_SUBTYPE;
  }();
  return failure(DAT_INVALID_STATE, subtype);
}

}  // namespace rnic::dat
