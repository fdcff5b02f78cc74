// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What an agent hands to itself across exec. librdmacm keeps every device it has ever opened open
// until the process image ends, and a script that unloads a driver needs it closed: so the agent
// becomes a fresh image of itself, runs the script, and only then opens the device again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "suite/upper_tester/session.hpp"

namespace suite::upper_tester {

struct Handover {
  int input = -1, output = -1;  ///< descriptors that survive the exec
  Session::Reconfiguration reconfiguration;
  std::string unhandled;  ///< octets already read from the client
};

/// Becomes a new image of this program with `--resume FD` added to its arguments; returns only if
/// that fails, with the reason.
[[nodiscard]] std::string become_fresh(const Handover& handover, char** argv);
/// What become_fresh left at this descriptor, which is closed.
[[nodiscard]] std::optional<Handover> take_handover(int fd);

}  // namespace suite::upper_tester
