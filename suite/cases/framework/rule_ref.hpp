// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A rule named in a case: checked by the compiler, or left out for the case's first rule.
#pragma once

#include "rules/rule_id.hpp"

namespace suite::cases {

struct RuleRef {
  /// Empty: the first rule of the case.
  std::string_view id;

  constexpr RuleRef() = default;
  template <std::size_t N>
  consteval RuleRef(const char (&literal)[N])
      : id(::rules::RuleId(literal).id) {}  // NOLINT(google-explicit-constructor)
};

}  // namespace suite::cases
