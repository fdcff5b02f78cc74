// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "rules/catalogue.hpp"

#include <algorithm>

#include "rules/catalogue_table.hpp"

namespace rules {

std::span<const Rule> all() { return table; }

const Rule* find(std::string_view id) {
  auto found = std::ranges::lower_bound(table, id, {}, &Rule::id);
  return found != std::end(table) && found->id == id ? &*found : nullptr;
}

std::string place(const Rule& rule) {
  const std::string section(rule.section);
  return rule.rfc == 0 ? "DAT 2.0 " + section
                       : "RFC " + std::to_string(rule.rfc) + " section " + section;
}

std::string_view version() { return table_version; }

}  // namespace rules
