// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `rnic-suite soak` plays random sessions, `rnic-suite replay` one that was written (docs/soak.md).
#pragma once

#include <string>
#include <vector>

#include "suite/jobs/exit_code.hpp"
#include "suite/runner/suite_parts.hpp"

namespace suite::runner {

/// `arguments`: those after the name of the command.
[[nodiscard]] jobs::ExitCode soak(const SuiteParts& parts, std::vector<std::string> arguments);
[[nodiscard]] jobs::ExitCode replay(const SuiteParts& parts, std::vector<std::string> arguments);

}  // namespace suite::runner
