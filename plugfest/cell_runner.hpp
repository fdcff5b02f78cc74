// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Plays one cell: starts both agents, captures, plays the scenario, has the capture judged, and
// says how it ended.
#pragma once

#include <string>
#include <vector>

#include "plugfest/cell_order.hpp"
#include "plugfest/verdict.hpp"
#include "suite/iut/agent_client.hpp"

namespace plugfest {

/// Starts an agent in the network namespace at this path (empty: ours), where it stays.
[[nodiscard]] suite::iut::AgentOpener agent_at(const std::string& network_namespace,
                                               const std::vector<std::string>& command);

[[nodiscard]] Outcome play(const CellOrder& order);

}  // namespace plugfest
