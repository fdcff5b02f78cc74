// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `rnic-plugfest preflight`: what would spoil an event, found before it begins: each fault with its
// remedy.
#pragma once

#include <string>
#include <vector>

#include "plugfest/event.hpp"
#include "plugfest/options.hpp"
#include "suite/doctor/doctor.hpp"
#include "suite/jobs/exit_code.hpp"

namespace plugfest {

/// What was found of one participant, or of the event as a whole.
struct Examined {
  std::string who;
  std::vector<suite::doctor::Finding> findings;
};

/// Looks at the path between the hosts of two participants, as the one sees it: MTU, and whether
/// the neighbour that answers is the other (`its_links`: what its host says of its interfaces).
[[nodiscard]] std::vector<suite::doctor::Finding> examine_path(const suite::doctor::System& from,
                                                               const Participant& to,
                                                               const std::string& its_links);
/// Of a host's clock against ours.
[[nodiscard]] suite::doctor::Finding examine_clock(const suite::doctor::System& host);
/// Whether a port mapper answers there.
[[nodiscard]] suite::doctor::Finding examine_port_mapper(const std::string& address);

/// All of it, printed as a table; harness where something stands in the event's way.
[[nodiscard]] suite::jobs::ExitCode preflight(const Event& event, const Options& options);

}  // namespace plugfest
