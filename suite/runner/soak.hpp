// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `rnic-suite soak` plays random sessions, `rnic-suite replay` one that was written (docs/soak.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "suite/jobs/exit_code.hpp"
#include "suite/runner/suite_parts.hpp"

namespace suite::runner {

/// Performs a command of the program with these arguments.
using PerformCommand = std::function<jobs::ExitCode(std::vector<std::string> arguments)>;

/// `arguments`: those after the name of the command. `perform`: how sessions on another IUT than the
/// reference in simulated time are played, as cases of a run.
[[nodiscard]] jobs::ExitCode soak(const SuiteParts& parts, std::vector<std::string> arguments,
                                  const PerformCommand& perform);
[[nodiscard]] jobs::ExitCode replay(const SuiteParts& parts, std::vector<std::string> arguments,
                                    const PerformCommand& perform);

}  // namespace suite::runner
