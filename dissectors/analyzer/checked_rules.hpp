// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which rules of the catalogue the analyzer checks, and which of them a set of its checks judges.
#pragma once

#include <span>
#include <vector>

#include "dissectors/analyzer/checks.hpp"
#include "rules/rule_id.hpp"

namespace dissectors::analyzer {

/// Every rule that a finding can name, sorted by id. Made from the tables that the checks use.
[[nodiscard]] std::span<const rules::RuleId> checked_rules();

/// The rules that these checks would have named had they failed, sorted by id.
[[nodiscard]] std::vector<rules::RuleId> rules_of(const CheckSet& checks);

}  // namespace dissectors::analyzer
