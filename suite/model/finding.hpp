// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the model finds: the IUT did what no admissible state allows, or did not do what all of them
// demand.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rules/rule_id.hpp"

namespace suite::model {

using rules::RuleId;

/// Why a state does not explain what was seen.
struct Contradiction {
  /// The rules that the observation breaks, the most specific one first.
  std::vector<RuleId> rules;
  std::string admissible;
  /// A Terminate has the code of the error that the state has, though not its layer or type.
  bool has_its_code = false;
};

struct Finding {
  std::vector<RuleId> rules;
  std::string admissible;
  std::string came;
  /// Lawful, but against a SHOULD, or lawful by one reading only (docs/disputes.md).
  bool advisory = false;
};

}  // namespace suite::model
