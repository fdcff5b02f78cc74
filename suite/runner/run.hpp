// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A run from the selection to the report: schedules, captures, compares with the known issues; it
// alone writes the results.
#pragma once

#include "suite/jobs/exit_code.hpp"
#include "suite/runner/options.hpp"
#include "suite/runner/suite_parts.hpp"

namespace suite::runner {

/// Reports what went wrong in one line on standard error. `command` is the program's own command
/// line, for the results.
[[nodiscard]] jobs::ExitCode run(const SuiteParts& parts, const Options& options,
                                 const std::vector<std::string>& command);

}  // namespace suite::runner
