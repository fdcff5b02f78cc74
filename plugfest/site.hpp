// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where the cells of an event are played: in private labs of this machine, or on the network that
// the participants are on.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "plugfest/event.hpp"
#include "suite/lab/namespaces.hpp"

namespace plugfest {

/// One end of a cell: where its agent is started, and where its peer reaches it.
struct Seat {
  int network_namespace = -1;  ///< -1: ours
  std::string address;
};

struct Table {
  Seat initiator, responder;
  std::string capture_interface;  ///< in the initiator's namespace; empty: none
};

class Site {
 public:
  /// Makes one lab for each slot, where the event plays in labs. The process must have one thread
  /// and is in namespaces of its own from then on. The error is one line.
  [[nodiscard]] static std::expected<Site, std::string> make(const Event& event, std::size_t slots);

  [[nodiscard]] Table table(const Event& event, std::size_t initiator, std::size_t responder,
                            std::size_t slot) const;

 private:
  std::vector<suite::lab::Lab> labs_;  ///< empty: the network
};

/// How the participant's agent is started, at this address.
[[nodiscard]] std::vector<std::string> agent_command(const Participant& participant,
                                                     const std::string& address,
                                                     const std::string& own_agent);

}  // namespace plugfest
