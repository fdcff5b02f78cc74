// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Renders the results of runs with reports/.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <vector>

#include "suite/runner/options.hpp"

namespace suite::runner {

/// Runs reports/render.py on the output folder. The error is one line.
[[nodiscard]] std::expected<void, std::string> render_reports(const Options& options);

/// A command that a program of reports/ performs: its words go there as they are.
struct ReportCommand {
  const char *name, *program, *what;
};
[[nodiscard]] std::span<const ReportCommand> report_commands();
[[nodiscard]] jobs::ExitCode perform(const ReportCommand& command,
                                     const std::vector<std::string>& words);

/// Runs reports/compare_runs.py on the two runs, which prints the comparison.
[[nodiscard]] jobs::ExitCode compare_runs(const Options& options);

}  // namespace suite::runner
