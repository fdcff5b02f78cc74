// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which cases of the table the command line asks for.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <vector>

#include "suite/cases/framework/case.hpp"
#include "suite/runner/options.hpp"

namespace suite::runner {

/// The cases that match every kind of selector given, in the order of the table. The error is one
/// line; it names the selector that matches nothing. `failed`: the ids to which --rerun-failed
/// restricts them, if given.
[[nodiscard]] std::expected<std::vector<const cases::Case*>, std::string> select(
    std::span<const cases::Case> table, const Options& options,
    const std::vector<std::string>& failed);

}  // namespace suite::runner
