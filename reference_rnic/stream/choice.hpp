// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A question to which the RFCs permit several answers.
#pragma once

#include <algorithm>
#include <span>

#include "rules/rule_id.hpp"

namespace rnic::stream {

template <class T>
struct Choice {
  /// The rule that gives the permission.
  rules::RuleId by;
  /// The answer of an implementation that does not use the permission.
  T rfc;
  /// All answers that are lawful.
  std::span<const T> permitted;
};

/// The same for a number that may lie anywhere between two others.
template <class T>
struct Range {
  rules::RuleId by;
  T rfc;
  T least, most;
};

template <class T>
[[nodiscard]] bool permits(const Choice<T>& choice, const T& answer) {
  return std::ranges::find(choice.permitted, answer) != choice.permitted.end();
}
template <class T>
[[nodiscard]] bool permits(const Range<T>& range, const T& answer) {
  return range.least <= answer && answer <= range.most;
}

/// For a permission to do something or not.
inline constexpr bool either[] = {false, true};

}  // namespace rnic::stream
