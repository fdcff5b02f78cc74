// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Decides which cell is started next: no host in more cells at once than it allows, no more cells
// at once than there are slots, and the longest cells start first.
//
// Pure: no clock, no process. The same engine serves a run and a simulation.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace plugfest {

/// A cell as the scheduler sees it.
struct Job {
  std::size_t one = 0, other = 0;  ///< hosts
  double length = 1;               ///< seconds, as far as known
};

/// `capacity[h]`: cells that host h may be in at once.
class Scheduler {
 public:
  Scheduler(std::vector<int> capacity, std::size_t slots, std::vector<Job> jobs);

  /// The job to start now, which then runs; nothing where none may, until another has finished.
  [[nodiscard]] std::optional<std::size_t> next();
  void finished(std::size_t job);
  /// A host that is away starts no job until it is back; what it is in goes on.
  void set_away(std::size_t host, bool away) { hosts_[host].away = away; }

  [[nodiscard]] std::size_t hosts() const { return hosts_.size(); }
  /// In no cell.
  [[nodiscard]] bool idle(std::size_t host) const {
    return hosts_[host].free == hosts_[host].capacity;
  }
  [[nodiscard]] bool has_waiting(std::size_t host) const { return hosts_[host].waiting > 0; }
  [[nodiscard]] std::size_t waiting() const { return waiting_; }
  [[nodiscard]] std::size_t running() const { return running_; }
  /// No schedule of what still waits ends sooner than this many seconds from now.
  [[nodiscard]] double bound() const;

 private:
  /// The jobs of two hosts that still wait, longest last.
  struct Pairing {
    std::size_t partner = 0;
    std::size_t queue = 0;  ///< in queues_
  };
  struct Host {
    int free = 1, capacity = 1;
    bool away = false;
    std::size_t waiting = 0;  ///< of its jobs
    double load = 0;          ///< of these
    std::vector<Pairing> partners;
    [[nodiscard]] bool can_start() const { return free > 0 && !away; }
    [[nodiscard]] double urgency() const { return load / capacity; }
  };
  [[nodiscard]] std::optional<std::size_t> queue_for(std::size_t host);
  std::size_t start(std::size_t queue);

  std::size_t slots_;
  std::vector<Job> jobs_;
  std::vector<Host> hosts_;
  std::vector<std::vector<std::size_t>> queues_;
  std::size_t waiting_ = 0, running_ = 0;
  double load_ = 0, longest_ = 0;
};

/// How long the jobs take if each takes its length exactly.
struct Simulated {
  double makespan = 0, bound = 0;
};
[[nodiscard]] Simulated simulate(std::vector<int> capacity, std::size_t slots,
                                 std::vector<Job> jobs);

}  // namespace plugfest
