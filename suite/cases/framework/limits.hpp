// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The limits that an IUT states in its hello, applied to all commands of all cases in one place.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "suite/iut/messages.hpp"

namespace suite::cases {

using Limits = std::map<std::string, std::int64_t>;

struct Excess {
  std::string limit;  ///< its name
  std::string text;   ///< what the IUT states and what the command wants, in one line
};

/// The first limit that the command exceeds, if any. A command that must succeed and exceeds one
/// makes its case not applicable.
[[nodiscard]] std::optional<Excess> beyond_limits(const iut::Command& command,
                                                  const Limits& limits);

/// `wanted`, or the IUT's limit if that is less: for values that a case leaves to the framework.
[[nodiscard]] std::int64_t within_limit(const Limits& limits, const std::string& name,
                                        std::int64_t wanted);

}  // namespace suite::cases
