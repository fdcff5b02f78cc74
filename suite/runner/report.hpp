// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Renders the results of a run with reports/.
#pragma once

#include <expected>
#include <string>

#include "suite/runner/options.hpp"

namespace suite::runner {

/// Runs reports/render.py on the output folder. The error is one line.
[[nodiscard]] std::expected<void, std::string> render_reports(const Options& options);

/// Runs reports/compare_runs.py on the two runs, which prints the comparison.
[[nodiscard]] jobs::ExitCode compare_runs(const Options& options);

}  // namespace suite::runner
