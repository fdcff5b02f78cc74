// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A question to which the RFCs permit several answers.
#pragma once

#include <span>

#include "rules/rule_id.hpp"

namespace rnic::stream {

template <class T>
struct Choice {
  /// The rule that gives the permission.
  rules::RuleId by;
  /// The answer of an implementation that makes no use of it.
  T rfc;
  /// All answers that are lawful; of a range its ends.
  std::span<const T> permitted;
};

}  // namespace rnic::stream
