// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Rules that speak about the same octets: what the judge of octets reports by one of them may be a
// fault of the others.
#pragma once

#include <span>
#include <string_view>

#include "rules/rule_id.hpp"

namespace suite::sessions {

[[nodiscard]] std::span<const rules::RuleId> related_rules(std::string_view rule);

}  // namespace suite::sessions
