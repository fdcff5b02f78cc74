// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Runs in which every deviation of a stream has its chance to show.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reference_rnic/deviants/deviation.hpp"

namespace rnic::deviants::test {

using Chosen = std::vector<Deviation>;

struct Scenario {
  std::string name;
  /// The transcript of the run with a subject that is wrong in these ways.
  std::function<std::string(const Chosen& chosen)> run;
};
[[nodiscard]] std::vector<Scenario> scenarios();

}  // namespace rnic::deviants::test
