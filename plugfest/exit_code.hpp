// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What rnic-plugfest says to the shell. The numbers are those of rnic-suite (docs/running.md).
#pragma once

namespace plugfest {

enum class ExitCode : int {
  good = 0,         ///< all cells have been played, and none is bad that was not expected to be
  new_failure = 1,  ///< a cell's verdict is bad and not expected
  usage = 2,        ///< the command line, or the event file
  harness = 3,      ///< the run could not go on, or was interrupted
  stale = 4,        ///< no new failure, yet an expectation no longer holds
};

}  // namespace plugfest
