// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The commands that examine before a run: `doctor` examines the hosts, `probe` asks an IUT what it
// can do.
#pragma once

#include "suite/jobs/exit_code.hpp"
#include "suite/runner/options.hpp"
#include "suite/runner/suite_parts.hpp"

namespace suite::runner {

/// Prints the findings; the exit code is harness if one of them prevents a run.
[[nodiscard]] jobs::ExitCode run_doctor(const Options& options);
/// Writes the PICS that follows from what the IUT reports to the file options.subject or to
/// standard output.
[[nodiscard]] jobs::ExitCode probe(const SuiteParts& parts, const Options& options);

}  // namespace suite::runner
