// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// --host tls: an agent that connects to us, whose command line is that of its own host.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "suite/iut/messages.hpp"
#include "suite/runner/options.hpp"

namespace CLI {
class App;
}

namespace suite::runner {

void add_options_of_awaiting(CLI::App& app, Options& options);
/// These options with their values.
[[nodiscard]] std::array<std::pair<const char*, const std::filesystem::path*>, 3> files_of_awaiting(
    const Options& options);
/// What is wrong with them, and with what the command line and the PIXIT say besides; nothing if
/// nothing is.
[[nodiscard]] std::optional<std::string> fault_of_awaiting(const Options& options);
/// The command that is in place of an agent's.
[[nodiscard]] std::vector<std::string> command_that_awaits(const Options& options);
/// Why the agent that has connected is not the one that --iut names; nothing if it is.
[[nodiscard]] std::optional<std::string> fault_of_awaited(const Options& options,
                                                          const iut::Hello& hello);

}  // namespace suite::runner
