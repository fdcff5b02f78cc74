// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a worker needs to have a cell played as a job of the cluster.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace plugfest {

struct SlurmOrder {
  /// The command that submits the job.
  std::vector<std::string> submission;
  /// Files: where the job leaves the cell's record, and what it wrote.
  std::string record, log;
  /// From the start of the job.
  std::chrono::nanoseconds time_limit{};
};

}  // namespace plugfest
