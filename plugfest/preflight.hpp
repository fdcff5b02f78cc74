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

/// All of it, printed as a table; harness where something stands in the event's way.
[[nodiscard]] suite::jobs::ExitCode preflight(const Event& event, const Options& options);

}  // namespace plugfest
