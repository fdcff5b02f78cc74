// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The state that an agent passes to itself across exec. librdmacm keeps every device open that it
// has ever opened, until the process image ends, and a script that unloads a driver needs it
// closed: so the agent executes itself again, runs the script, and only then opens the device
// again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "suite/upper_tester/agent_session.hpp"

namespace suite::upper_tester {

struct Handover {
  int input = -1, output = -1;  ///< descriptors that survive the exec
  AgentSession::Reconfiguration reconfiguration;
  std::string unhandled;  ///< octets already read from the client
};

/// Becomes a new image of this program with `--resume FD` added to its arguments; returns only if
/// that fails, with the reason.
[[nodiscard]] std::string become_fresh(const Handover& handover, char** argv);
/// Reads what become_fresh left at this descriptor, and closes it.
[[nodiscard]] std::optional<Handover> take_handover(int fd);

}  // namespace suite::upper_tester
