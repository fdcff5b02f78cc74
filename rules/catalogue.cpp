// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "rules/catalogue.hpp"

#include <algorithm>

namespace rules {

const Rule* find(std::string_view id) {
  const auto rules = all();
  const auto found = std::ranges::lower_bound(rules, id, {}, &Rule::id);
  return found != rules.end() && found->id == id ? &*found : nullptr;
}

std::string place(const Rule& rule) {
  const std::string section(rule.section);
  return rule.rfc == 0 ? "DAT 2.0 " + section
                       : "RFC " + std::to_string(rule.rfc) + " section " + section;
}

}  // namespace rules
