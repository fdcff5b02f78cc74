// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/deviants/deviation.hpp"

#include <algorithm>
#include <array>

#include "rules/rule_id.hpp"

namespace rnic::deviants {
namespace {

constexpr std::array<DeviationInfo, deviation_count> table{{
#define RNIC_DEVIATION(enumerator, rule, text) \
  {Deviation::enumerator, #enumerator, rules::RuleId(rule).id, text},
#include "reference_rnic/deviants/deviations.def"
#undef RNIC_DEVIATION
}};

}  // namespace

std::span<const DeviationInfo> deviations() { return table; }

const DeviationInfo& info(Deviation deviation) {
  return table[static_cast<std::size_t>(deviation)];
}

std::optional<Deviation> find_deviation(std::string_view name) {
  const auto* found = std::ranges::find(table, name, &DeviationInfo::name);
  if (found == table.end()) return std::nullopt;
  return found->deviation;
}

}  // namespace rnic::deviants
