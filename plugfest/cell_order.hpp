// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// All that a worker has to know to play a cell.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "plugfest/capture_place.hpp"
#include "plugfest/verdict.hpp"

namespace plugfest {

/// One side of a cell.
struct ParticipantSide {
  /// The command that starts its agent.
  std::vector<std::string> command;
  /// Of its PICS: capability to whether it may be used.
  std::map<std::string, bool> claims;
  /// Where the agent is started: path of a network namespace; empty: the worker's own.
  std::string network_namespace;
  /// Where its peer reaches it.
  std::string address;
};

struct CellOrder {
  std::string scenario;
  ParticipantSide initiator, responder;
  /// The first that is complete is judged; empty: there is none.
  std::vector<CapturePlace> captures;
  std::chrono::nanoseconds deadline{}, step_timeout{};
  /// Of the results, and the file in there for the first capture; those of others have a number.
  std::string folder, pcap;

  [[nodiscard]] const ParticipantSide& of(Side side) const {
    return side == Side::initiator ? initiator : responder;
  }
};

}  // namespace plugfest
