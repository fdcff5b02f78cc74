// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A rule id written in code: a misspelt one does not compile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "rules/rule_ids.hpp"

namespace rules {

/// Wraps the id of a rule that exists. `rule("mpa.crc...")` is evaluated by the compiler, which
/// rejects unknown ids.
struct RuleId {
  std::string_view id;

  template <std::size_t N>
  consteval RuleId(const char (&literal)[N])
      : id(literal, N - 1) {  // NOLINT(google-explicit-constructor)
    if (!std::ranges::binary_search(ids, id)) throw "no rule of the catalogue has this id";
  }
};

}  // namespace rules
