// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Programs of others as contenders: started as they are, and what they print is the figure.
#pragma once

#include <cstdint>
#include <string>

#include "reference_rnic/bench/report.hpp"

namespace rnic::bench {

/// Whether the contender is such a program, and the program is there.
[[nodiscard]] bool is_stock_program(const std::string& contender);
[[nodiscard]] bool is_installed(const std::string& program);

/// Plays both ends. Throws if the program fails, or prints what it did not print so far.
[[nodiscard]] Sample play_stock_program(const std::string& contender, const Work& work,
                                        std::uint16_t port);

/// The library that gives verbs programs the reference RNIC, for LD_PRELOAD.
[[nodiscard]] std::string verbs_library();

}  // namespace rnic::bench
