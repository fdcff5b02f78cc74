// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A fault that the judge found in what the IUT sent.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rules/rule_id.hpp"
#include "suite/lower_tester/evidence.hpp"

namespace suite::lower_tester {

/// A rule that the IUT broke by what it sent.
struct SenderFault {
  std::string_view rule;                ///< of the catalogue
  std::span<const rules::RuleId> also;  ///< rules that the same fault breaks
  std::string expected;
  std::string actual;
  std::string hex;  ///< the startup frame or ULPDU that it is about, if any
  StreamPlace place;
};

}  // namespace suite::lower_tester
