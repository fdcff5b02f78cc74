// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Runs a vendor's script, given by path and argument list and never through a shell.
#pragma once

#include <string>
#include <vector>

namespace suite::upper_tester {

struct ScriptResult {
  bool ran = false;      ///< false: it could not be started, `text` says why
  int exit_status = -1;  ///< -1 if a signal ended it
  int signal = 0;
  std::string text;  ///< the end of what it wrote to stdout and stderr, or why it did not start
  bool abandoned = false;  ///< ended by us since the client went away
};

/// Waits for the script's end. If `client` (or -1: none) hangs up before, the script and what it
/// started are killed. The script's standard input is empty.
[[nodiscard]] ScriptResult run_script(const std::string& path,
                                      const std::vector<std::string>& arguments, int client);

}  // namespace suite::upper_tester
