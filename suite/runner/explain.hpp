// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What is known about a rule: its text, the cases that judge it, the deviations that break it, and
// the implementations that are known to break it.
#pragma once

#include "suite/jobs/exit_code.hpp"
#include "suite/runner/suite_parts.hpp"

namespace suite::runner {

/// Prints one rule with everything that checks it.
[[nodiscard]] jobs::ExitCode explain(const SuiteParts& parts, const std::string& rule);

}  // namespace suite::runner
