// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which rules of the catalogue the analyzer checks.
#pragma once

#include <span>

#include "rules/rule_id.hpp"

namespace dissectors::analyzer {

/// Every rule that a finding can name, sorted by id. Made of the tables that the checks use.
[[nodiscard]] std::span<const rules::RuleId> checked_rules();

}  // namespace dissectors::analyzer
