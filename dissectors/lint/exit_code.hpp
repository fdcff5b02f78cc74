// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The exit codes of rnic-lint, which are documented in docs/reading-traces.md and in --help.
#pragma once

#include <cstdint>

#include "dissectors/lint/totals.hpp"

namespace dissectors::lint {

enum class ExitCode : std::uint8_t {
  clean = 0,       ///< no violation in what was judged
  violations = 1,  ///< at least one in what is shown
  usage = 2,       ///< the command line, or a connection that the capture does not have
  unreadable = 3,  ///< the capture cannot be read, or a file cannot be written
  no_iwarp = 4,    ///< the capture was read, and no connection in it carries iWARP
};

/// The exit code for a capture that was read to its end, or up to a tear.
[[nodiscard]] inline ExitCode exit_code(const Totals& totals) {
  // Nothing of it was judged, or it continues in a form that is not read.
  if (totals.tear && (totals.tear->unsupported || totals.frames.frames == 0))
    return ExitCode::unreadable;
  if (totals.violation_count() > 0) return ExitCode::violations;
  return totals.iwarp_connections > 0 ? ExitCode::clean : ExitCode::no_iwarp;
}

}  // namespace dissectors::lint
