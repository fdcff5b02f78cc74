// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "rules/catalogue.hpp"

#include <algorithm>

namespace rules {

const Rule* find(std::string_view id) {
  const auto rules = all();
  const auto found = std::ranges::lower_bound(rules, id, {}, &Rule::id);
  return found != rules.end() && found->id == id ? &*found : nullptr;
}

namespace {

constexpr std::string_view appendix = "Appendix ";

// `A` or `Appendix A` is one; its letter.
std::string_view appendix_of(const Rule& rule) {
  if (rule.section.starts_with(appendix)) return rule.section.substr(appendix.size());
  return rule.section.front() < '0' || rule.section.front() > '9' ? rule.section : "";
}

}  // namespace

std::string document_name(int rfc) {
  if (rfc == dat_document) return "DAT 2.0";
  if (rfc == kernel_document) return "kernel verbs";
  if (rfc == kdat_document) return "kDAPL 2.0";
  return rfc == verbs_document ? "verbs" : "RFC " + std::to_string(rfc);
}

std::string place(const Rule& rule) {
  const std::string section(rule.section);
  if (rule.rfc == verbs_document) return "man page " + section + "(3)";
  if (!is_of_an_rfc(rule)) return document_name(rule.rfc) + " " + section;
  const std::string letter(appendix_of(rule));
  return document_name(rule.rfc) +
         (letter.empty() ? " section " + section : " " + std::string(appendix) + letter);
}

std::string href(const Rule& rule) {
  if (!is_of_an_rfc(rule)) return "";
  const std::string letter(appendix_of(rule));
  return "https://www.rfc-editor.org/rfc/rfc" + std::to_string(rule.rfc) +
         (letter.empty() ? "#section-" + std::string(rule.section) : "#appendix-" + letter);
}

}  // namespace rules
