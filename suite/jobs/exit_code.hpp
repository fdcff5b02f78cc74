// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The exit codes of rnic-suite and rnic-plugfest, as docs/running.md and --help document them.
#pragma once

namespace suite::jobs {

enum class ExitCode : int {
  /// At least one case or cell was judged, and nothing failed that was not expected to.
  good = 0,
  /// An outcome that the expectations do not cover.
  new_failure = 1,
  /// The command line, a file given on it, or a selection that is empty.
  usage = 2,
  /// The harness or the IUT could not be used, or the run was interrupted.
  harness = 3,
  /// No new failure, but an expectation no longer shows.
  stale = 4,
};

/// If several apply, the first of 3, 1, 4 is the exit code.
struct Findings {
  bool harness = false, new_failure = false, stale = false;
};
[[nodiscard]] constexpr ExitCode exit_code(const Findings& findings) {
  if (findings.harness) return ExitCode::harness;
  if (findings.new_failure) return ExitCode::new_failure;
  return findings.stale ? ExitCode::stale : ExitCode::good;
}

}  // namespace suite::jobs
