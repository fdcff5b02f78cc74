// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Maps iWARP errors to DAT: the status of a DTO, and the connection event.
#pragma once

#include <optional>

#include "reference_rnic/access/connection_manager.hpp"
#include "reference_rnic/dat/api.hpp"
#include "reference_rnic/verbs/rnic.hpp"

namespace rnic::dat {

[[nodiscard]] DAT_DTO_COMPLETION_STATUS dto_status(verbs::Status status);

/// Why an established connection has ended.
struct EndCause {
  bool orderly = false;                            ///< both sides closed
  bool asked_here = false;                         ///< our consumer disconnected
  std::optional<wire::TerminateCause> received{};  ///< of a Terminate of the peer
};
[[nodiscard]] DAT_EVENT_NUMBER end_event(const EndCause& cause);

/// Why a connection that we requested was not established. `limited`: the consumer gave a timeout,
/// the expiry of which is reported differently from a host that does not answer.
[[nodiscard]] DAT_EVENT_NUMBER connect_event(access::ConnectFailure failure, bool limited);

[[nodiscard]] DAT_RETURN post_return(verbs::Error error);

}  // namespace rnic::dat
