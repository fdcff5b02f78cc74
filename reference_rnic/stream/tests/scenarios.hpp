// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Runs in which every deviation of a stream has its chance to show.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reference_rnic/stream/deviation.hpp"

namespace rnic::stream::test {

struct Scenario {
  std::string name;
  /// The transcript of the run with a subject of this policy.
  std::function<std::string(const Deviating& subject)> run;
};
[[nodiscard]] std::vector<Scenario> scenarios();

}  // namespace rnic::stream::test
