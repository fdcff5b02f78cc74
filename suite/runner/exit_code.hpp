// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What rnic-suite says to the shell. The numbers are documented in docs/running.md and in --help.
#pragma once

namespace suite::runner {

enum class ExitCode : int {
  good = 0,         ///< at least one case ran, no new failure
  new_failure = 1,  ///< an outcome that the expectations do not hold
  usage = 2,        ///< the command line, a file given on it, or a selection that is empty
  harness = 3,      ///< the harness or the IUT could not be used, or the run was interrupted
  stale = 4,        ///< no new failure, yet an expectation no longer holds
};

/// What counts when several apply: 3 before 1 before 4.
struct Findings {
  bool harness = false, new_failure = false, stale = false;
};
[[nodiscard]] constexpr ExitCode exit_code(const Findings& findings) {
  if (findings.harness) return ExitCode::harness;
  if (findings.new_failure) return ExitCode::new_failure;
  return findings.stale ? ExitCode::stale : ExitCode::good;
}

}  // namespace suite::runner
