// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// All that a worker has to know to have a cell played as a job of the cluster.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace plugfest {

struct SlurmOrder {
  /// The command that hands it in.
  std::vector<std::string> submission;
  /// Files: where the job leaves the cell's record, and what it wrote.
  std::string record, log;
  /// Once it runs.
  std::chrono::nanoseconds time_limit{};
};

}  // namespace plugfest
