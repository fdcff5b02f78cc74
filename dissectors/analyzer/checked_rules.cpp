// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/checked_rules.hpp"

#include <algorithm>
#include <vector>

#include "dissectors/analyzer/framing_rules.hpp"
#include "dissectors/analyzer/terminate_rules.hpp"

namespace dissectors::analyzer {

std::span<const rules::RuleId> checked_rules() {
  static const std::vector<rules::RuleId> joined = [] {
    std::vector<rules::RuleId> all;
    for (const auto part : {framing_rules(), startup_rules(), ddp_rules(), rdmap_rules(),
                            atomic_rules(), terminate_rules()})
      all.insert(all.end(), part.begin(), part.end());
    std::ranges::sort(all, {}, &rules::RuleId::id);
    const auto twice = std::ranges::unique(all, {}, &rules::RuleId::id);
    all.erase(twice.begin(), twice.end());
    return all;
  }();
  return joined;
}

}  // namespace dissectors::analyzer
