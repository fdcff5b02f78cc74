// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The bundle for a disputed verdict: the rule and what it demands, what came, the octets, the
// capture, what else would be lawful, and the command that runs the case again.
#pragma once

#include "suite/jobs/exit_code.hpp"
#include "suite/runner/options.hpp"

namespace suite::runner {

/// Bundles the case (or, for `finding:RULE`, the first case that shows it) `options.subject` of the
/// run in the folder `options.results`. Writes the folder `options.out`, by default one named after
/// the subject.
[[nodiscard]] jobs::ExitCode bundle_dispute(const Options& options);

}  // namespace suite::runner
