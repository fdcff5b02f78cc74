// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A permission of the RFC at a decision point: what this implementation does, and what else it may
// do.
#pragma once

#include <span>

#include "rules/rule_id.hpp"

namespace rnic::stream {

template <class T>
struct Choice {
  rules::RuleId by;
  T rfc;
  std::span<const T> permitted;
};

}  // namespace rnic::stream
