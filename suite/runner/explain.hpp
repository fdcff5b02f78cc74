// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What stands behind a rule: its text, the cases that judge it, the deviations that break it.
// Joined here, never typed.
#pragma once

#include "suite/runner/exit_code.hpp"
#include "suite/runner/suite_parts.hpp"

namespace suite::runner {

/// Prints one rule with all that checks it.
[[nodiscard]] ExitCode explain(const SuiteParts& parts, const std::string& rule);
/// Prints every rule with its number of cases and deviations, and what remains unchecked.
[[nodiscard]] ExitCode print_coverage(const SuiteParts& parts);
/// Prints every registered cause of a Terminate with the case that provokes it, or why none can.
[[nodiscard]] ExitCode print_terminate_matrix();

}  // namespace suite::runner
