// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The bundle of one verdict for whoever disputes it: the rule and what it demands, what came, the
// octets, the capture, what else would have been lawful, and the command that runs the case again.
#pragma once

#include "suite/jobs/exit_code.hpp"
#include "suite/runner/options.hpp"

namespace suite::runner {

/// Of the case (or `finding:RULE`: the first case that shows it) `options.subject` in the run of the
/// folder `options.results`. Writes the folder `options.out`, by default one named after the subject.
[[nodiscard]] jobs::ExitCode bundle_dispute(const Options& options);

}  // namespace suite::runner
