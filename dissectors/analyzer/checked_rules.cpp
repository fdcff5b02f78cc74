// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/checked_rules.hpp"

#include <algorithm>

namespace dissectors::analyzer {

namespace {

struct RuleOfCheck {
  Check check;
  rules::RuleId rule;
};

void add(std::vector<RuleOfCheck>& table, Check check, std::initializer_list<rules::RuleId> ids) {
  for (const rules::RuleId id : ids) table.push_back({check, id});
}

/// Each rule of each check, sorted by rule.
const std::vector<RuleOfCheck>& table() {
  static const std::vector<RuleOfCheck> all = [] {
    std::vector<RuleOfCheck> made;
#define ANALYZER_CHECK(name, ...) add(made, Check::framing_##name, {__VA_ARGS__});
#include "dissectors/analyzer/framing_rules.def"
#undef ANALYZER_CHECK
#define ANALYZER_CHECK(name, ...) add(made, Check::startup_##name, {__VA_ARGS__});
#include "dissectors/analyzer/startup_rules.def"
#undef ANALYZER_CHECK
#define ANALYZER_CHECK(name, ...) add(made, Check::ddp_##name, {__VA_ARGS__});
#include "dissectors/analyzer/ddp_rules.def"
#undef ANALYZER_CHECK
#define ANALYZER_CHECK(name, ...) add(made, Check::rdmap_##name, {__VA_ARGS__});
#include "dissectors/analyzer/rdmap_rules.def"
#undef ANALYZER_CHECK
#define ANALYZER_CHECK(name, ...) add(made, Check::atomic_##name, {__VA_ARGS__});
#include "dissectors/analyzer/atomic_rules.def"
#undef ANALYZER_CHECK
#define ANALYZER_CHECK(name, ...) add(made, Check::terminate_##name, {__VA_ARGS__});
#include "dissectors/analyzer/terminate_rules.def"
#undef ANALYZER_CHECK
    std::ranges::stable_sort(made, {}, [](const RuleOfCheck& one) { return one.rule.id; });
    return made;
  }();
  return all;
}

std::vector<rules::RuleId> rules_where(const auto& wanted) {
  std::vector<rules::RuleId> list;
  for (const RuleOfCheck& one : table())
    if (wanted(one.check) && (list.empty() || list.back().id != one.rule.id))
      list.push_back(one.rule);
  return list;
}

}  // namespace

std::span<const rules::RuleId> checked_rules() {
  static const std::vector<rules::RuleId> all = rules_where([](Check) { return true; });
  return all;
}

std::vector<rules::RuleId> rules_of(const CheckSet& checks) {
  return rules_where([&](Check check) { return checks.contains(check); });
}

}  // namespace dissectors::analyzer
