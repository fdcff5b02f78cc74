// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The states of an Endpoint and the one table of transitions between them.
#pragma once

#include <cstdint>
#include <optional>

#include "reference_rnic/dat/api.hpp"

namespace rnic::dat {

enum class EpInput : std::uint8_t {
  connect_asked,      ///< dat_ep_connect and similar calls
  reserved,           ///< given to an RSP or SSP
  reservation_freed,  ///< before a request came
  request_came,       ///< on the service point that has the Endpoint
  rejected_here,      ///< the consumer has rejected its request
  accepted_here,      ///< the consumer has accepted a request with it
  established,
  not_established,  ///< rejected by the peer, unreachable, timed out, failed
  disconnect_asked,
  ended,  ///< the connection has ended, for whatever reason
  reset_asked,
};

/// The state after `input`, or nothing if that input is not admitted in this state. Of the four
/// states that exist with and without configuration, the table has the configured one.
[[nodiscard]] std::optional<DAT_EP_STATE> next_state(DAT_EP_STATE state, EpInput input);

/// The state as a consumer sees it.
[[nodiscard]] DAT_EP_STATE shown_state(DAT_EP_STATE state, bool configured);

/// DAT_INVALID_STATE with the subtype that names the state.
[[nodiscard]] DAT_RETURN invalid_state(DAT_EP_STATE state);

}  // namespace rnic::dat
