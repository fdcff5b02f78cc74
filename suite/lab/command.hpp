// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Runs a program of the host, such as `ip`, to its end, without a shell and with a deadline.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace suite::lab {

struct CommandOptions {
  int network_namespace = -1;  ///< in which it runs; -1: in ours
  std::chrono::milliseconds time_limit = std::chrono::seconds(20);
  std::function<void(std::string_view)> progress;  ///< gets each line of stderr as it comes
};

/// What the program wrote to stdout, if it ended with status 0. The error is one line with the
/// command and what it wrote to stderr. `argv[0]` is looked for in PATH, /usr/sbin and /sbin.
[[nodiscard]] std::expected<std::string, std::string> run_command(
    const std::vector<std::string>& argv, const CommandOptions& options = {});

/// Where a program of that name is, in PATH, /usr/sbin or /sbin; empty if nowhere.
[[nodiscard]] std::string find_program(std::string_view name);

}  // namespace suite::lab
