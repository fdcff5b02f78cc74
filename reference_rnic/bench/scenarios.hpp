// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The list of what rnic-bench measures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reference_rnic/bench/workloads.hpp"

namespace rnic::bench {

struct Scenario {
  std::string name;
  Work work;
  std::vector<std::string> contenders;
  unsigned busy = 0;            ///< processes that only compute, beside it
  std::optional<Work> alone{};  ///< played in the same rounds, to compare with
};

/// `quick`: with few messages.
[[nodiscard]] std::vector<Scenario> scenarios(bool quick);

}  // namespace rnic::bench
