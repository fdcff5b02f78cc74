// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The limits that an IUT states in its hello, applied to all commands of all cases in one place.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "suite/iut/messages.hpp"

namespace suite::cases {

using Limits = std::map<std::string, std::int64_t>;

/// What the command asks for beyond the limits, in one line; empty if nothing. A command that has
/// to succeed and goes beyond them makes its case not applicable.
[[nodiscard]] std::string beyond_limits(const iut::Command& command, const Limits& limits);

/// `wanted`, or what the IUT has where that is less: for what a case leaves to the framework.
[[nodiscard]] std::int64_t within_limit(const Limits& limits, const std::string& name,
                                        std::int64_t wanted);

}  // namespace suite::cases
