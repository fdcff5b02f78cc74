// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Plays one cell: starts both agents, captures, plays the scenario, has the capture judged, and
// says how it ended.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "plugfest/scenarios/scenario.hpp"
#include "plugfest/test_network.hpp"
#include "plugfest/verdict.hpp"
#include "suite/iut/agent_client.hpp"

namespace plugfest {

struct ParticipantSide {
  std::vector<std::string> command;    ///< of its agent
  std::map<std::string, bool> claims;  ///< of its PICS
};

struct CellOrder {
  const Scenario& scenario;
  ParticipantSide initiator, responder;
  CellHosts hosts;
  std::chrono::milliseconds deadline, step_timeout;
  std::filesystem::path folder;  ///< of the results
  std::string pcap;              ///< file in there for the capture
};

/// Starts an agent in a network namespace (-1: ours), where it stays.
[[nodiscard]] suite::iut::AgentOpener agent_at(int network_namespace,
                                               const std::vector<std::string>& command);

[[nodiscard]] Outcome play(const CellOrder& order);

}  // namespace plugfest
