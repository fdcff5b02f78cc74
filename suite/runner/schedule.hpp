// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which case is started next: groups of one configuration one after the other,
// sentinels and repetitions alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace suite::runner {

/// One attempt at one case.
struct Job {
  std::size_t number = 0;  ///< which case, in the caller's own numbering
  std::uint32_t attempt = 1;
  std::size_t group = 0;       ///< cases of one group want the IUT configured alike
  bool alone = false;          ///< nothing else may run meanwhile
  bool known_to_hang = false;  ///< an expectation says so
  bool probe = false;          ///< the sentinel, asked whether the IUT still answers: no attempt
  bool once_lost = false;      ///< it went unanswered, and others were answered
  bool operator==(const Job&) const = default;
};

class Schedule {
 public:
  /// `barrier`: the configuration belongs to the whole IUT, so a group begins only when the one
  /// before it has ended. Without it the groups only give the order.
  Schedule(std::vector<Job> jobs, bool barrier);

  /// The job that can start now; nothing while what runs must end first, or when all are started.
  [[nodiscard]] std::optional<Job> next();
  /// A job that next() gave has ended.
  void ended();
  /// Runs this one as soon as it can.
  void repeat(const Job& job) { waiting_.push_front(job); }
  /// Runs these before anything else, one at a time.
  void repeat_alone(const std::vector<Job>& jobs);
  /// Runs these before anything else.
  void repeat_all(const std::vector<Job>& jobs);
  /// Forgets the probe, if it was not started.
  void take_back_probe();
  /// Forgets what was not started.
  void give_up() { waiting_.clear(); }

  [[nodiscard]] bool done() const { return waiting_.empty() && running_ == 0; }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  [[nodiscard]] std::size_t running() const { return running_; }

 private:
  std::deque<Job> waiting_;
  bool barrier_;
  std::size_t running_ = 0;
  bool alone_ = false;
  std::size_t group_ = 0;
};

}  // namespace suite::runner
