// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the environment asks of the library (environment.hpp).
#pragma once

#include "reference_rnic/access/decisions.hpp"
#include "reference_rnic/verbs/decisions.hpp"

namespace rnic::rdma_core {

/// Both end the process with a message if a name is not known.
[[nodiscard]] verbs::RnicDecisions rnic_decisions();
[[nodiscard]] access::ConnectionDecisions connection_decisions();
[[nodiscard]] const char* device_name();
[[nodiscard]] bool asks_for_crc();
[[nodiscard]] bool asks_for_peer_to_peer();

}  // namespace rnic::rdma_core
