// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "rules/catalogue.hpp"

#include <algorithm>

namespace rules {

const Rule* find(std::string_view id) {
  const auto rules = all();
  const auto found = std::ranges::lower_bound(rules, id, {}, &Rule::id);
  return found != rules.end() && found->id == id ? &*found : nullptr;
}

std::string document_name(int rfc) {
  if (rfc == dat_document) return "DAT 2.0";
  if (rfc == kernel_document) return "kernel verbs";
  if (rfc == kdat_document) return "kDAPL 2.0";
  return rfc == verbs_document ? "verbs" : "RFC " + std::to_string(rfc);
}

std::string place(const Rule& rule) {
  const std::string section(rule.section);
  if (rule.rfc == verbs_document) return "man page " + section + "(3)";
  return document_name(rule.rfc) + (is_of_an_rfc(rule) ? " section " : " ") + section;
}

}  // namespace rules
