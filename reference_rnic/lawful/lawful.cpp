// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/lawful/lawful.hpp"

#include <algorithm>
#include <array>

#include "rules/rule_id.hpp"

namespace rnic::lawful {
namespace {

constexpr std::array<LawfulInfo, lawful_count> table{{
#define RNIC_LAWFUL(enumerator, rule, dispute, text) \
  {Lawful::enumerator, #enumerator, rules::RuleId(rule).id, dispute, text},
#include "reference_rnic/lawful/lawful.def"
#undef RNIC_LAWFUL
}};

}  // namespace

std::span<const LawfulInfo> lawful_variants() { return table; }

const LawfulInfo& info(Lawful lawful) { return table[static_cast<std::size_t>(lawful)]; }

std::optional<Lawful> find_lawful(std::string_view name) {
  const auto* found = std::ranges::find(table, name, &LawfulInfo::name);
  if (found == table.end()) return std::nullopt;
  return found->lawful;
}

}  // namespace rnic::lawful
