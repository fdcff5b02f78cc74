// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Runs in which every deviation and every lawful variant of a stream has its chance to show.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reference_rnic/stream/decisions.hpp"

namespace rnic::deviants::test {

/// Makes what decides for the subject of a run.
using Decide = std::function<stream::StreamDecisions()>;

struct Scenario {
  std::string name;
  /// The transcript of the run.
  std::function<std::string(const Decide& decide)> run;
};
[[nodiscard]] std::vector<Scenario> scenarios();

}  // namespace rnic::deviants::test
