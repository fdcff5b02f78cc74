// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `rnic-plugfest preflight`: finds what would spoil an event before it begins, and prints each
// fault with its remedy.
#pragma once

#include <string>
#include <vector>

#include "plugfest/event.hpp"
#include "plugfest/options.hpp"
#include "suite/doctor/doctor.hpp"
#include "suite/jobs/exit_code.hpp"

namespace plugfest {

/// The findings about one participant, or about the event as a whole.
struct Examined {
  std::string who;
  std::vector<suite::doctor::Finding> findings;
};

/// Prints all findings as a table; the exit code is harness if one of them prevents the event.
[[nodiscard]] suite::jobs::ExitCode preflight(const Event& event, const Options& options);

}  // namespace plugfest
