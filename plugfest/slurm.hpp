// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The engine `slurm`: each cell is a job of an existing Slurm cluster, on the nodes of its
// participants. The next cell is chosen, and its record processed, as on one machine.
#pragma once

#include <chrono>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "plugfest/cell.hpp"
#include "plugfest/event.hpp"
#include "plugfest/options.hpp"
#include "plugfest/slurm_order.hpp"
#include "plugfest/verdict.hpp"

namespace plugfest {

/// Submits the cell, waits for its record and returns its outcome. A record that a job has left for
/// a run that was killed is used as it is.
[[nodiscard]] Outcome play_as_job(const SlurmOrder& order);

class Slurm {
 public:
  /// Checks that there is a cluster, and cancels what an earlier run of the event in this folder
  /// has left in its queue. The folder must be visible to all nodes under the same name.
  [[nodiscard]] static std::expected<Slurm, std::string> open(const Event& event,
                                                              const Options& options,
                                                              const std::filesystem::path& folder);

  /// What a worker needs to have the cell played as a job.
  [[nodiscard]] SlurmOrder order(const Cell& cell, int attempt) const;
  /// Cancels all jobs of this run.
  void cancel_all() const;

 private:
  Slurm() = default;
  [[nodiscard]] std::vector<std::string> submission(const Cell& cell, int attempt) const;
  [[nodiscard]] std::filesystem::path file_of(const Cell& cell, int attempt,
                                              const char* ending) const;

  const Event* event_ = nullptr;
  std::filesystem::path folder_, event_file_;
  std::string job_name_;
  /// The program that plays one cell; `--cell` and `--attempt` follow.
  std::vector<std::string> program_;
};

/// Where the job of a cell leaves its record, an Outcome.
[[nodiscard]] std::filesystem::path slurm_record(const std::filesystem::path& folder,
                                                 const Cell& cell, int attempt);

}  // namespace plugfest
