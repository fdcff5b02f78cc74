// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The options that say which kernel the guest of siw-vm has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "suite/runner/options.hpp"

namespace CLI {
class App;
}

namespace suite::runner {

void add_guest_options(CLI::App& app, Options& options);
/// What is wrong with them; nothing if nothing is.
[[nodiscard]] std::optional<std::string> fault_of_guest(const Options& options);
/// As words of a command line.
[[nodiscard]] std::vector<std::string> arguments_of_guest(const Options& options);

}  // namespace suite::runner
