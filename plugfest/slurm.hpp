// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The engine `slurm`: each cell is a job of an existing Slurm cluster, on the nodes that its
// participants are. Which cell is handed in next, and what becomes of its record, is as on one
// machine.
#pragma once

#include <nlohmann/json.hpp>

#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "plugfest/cell.hpp"
#include "plugfest/event.hpp"
#include "plugfest/options.hpp"

namespace plugfest {

class Slurm {
 public:
  /// Looks whether there is a cluster, and takes back what an earlier run of the event in this
  /// folder has left in its queue. The folder must be one that all nodes see under the same name.
  [[nodiscard]] static std::expected<Slurm, std::string> open(const Event& event,
                                                              const Options& options,
                                                              const std::filesystem::path& folder);

  /// Plays a cell as a job and returns its record; to be called in a process of its own. A record
  /// that a job has left for a run that was killed is taken as it is.
  [[nodiscard]] nlohmann::json play(const Cell& cell, int attempt) const;
  /// Takes back all jobs of this run.
  void cancel_all() const;

 private:
  Slurm() = default;
  [[nodiscard]] std::vector<std::string> submission(const Cell& cell, int attempt) const;
  [[nodiscard]] std::filesystem::path file_of(const Cell& cell, int attempt,
                                              const char* ending) const;

  const Event* event_ = nullptr;
  std::filesystem::path folder_, event_file_;
  std::string job_name_;
  std::vector<std::string> program_;  ///< that plays one cell; `--cell` and `--attempt` follow
};

/// Where the job of a cell leaves its record.
[[nodiscard]] std::filesystem::path slurm_record(const std::filesystem::path& folder,
                                                 const Cell& cell, int attempt);

}  // namespace plugfest
