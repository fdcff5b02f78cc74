// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which hosts are down: one that has answered, and whose agent then does not start several times in a
// row, is set aside, tried again after a while, and comes back when it answers. One that never answered
// costs its cells at once: waiting would not mend what was wrong from the beginning.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "plugfest/cell.hpp"
#include "plugfest/verdict.hpp"

namespace plugfest {

class HostWatch {
 public:
  /// `first_pause`: until a host that was set aside is tried again; then twice as long each time.
  HostWatch(std::size_t hosts, base::Duration first_pause);

  /// This host has answered a short while before this object was made.
  void meet(std::size_t host) { hosts_[host].met = true; }
  /// A cell has ended.
  void ended(const Cell& cell, const Outcome& outcome, base::TimePoint now);
  /// Whether no cell may start on this host yet.
  [[nodiscard]] bool aside(std::size_t host, base::TimePoint now) const;
  /// Whether it was tried so often that the rest of its cells will not be played.
  [[nodiscard]] bool given_up(std::size_t host) const;
  /// Whether a cell with this outcome is played again, since a host of it was down: at most twice.
  [[nodiscard]] bool again(const Cell& cell, const Outcome& outcome, int attempt) const;

  static constexpr int failures_in_a_row = 3, most_trials = 8, most_attempts = 3;
  static constexpr std::chrono::minutes longest_pause{5};

 private:
  struct Host {
    bool met = false;  ///< it has answered in this run
    int failures = 0;  ///< in a row
    int trials = 0;    ///< since it last answered
    base::TimePoint until = base::TimePoint::min();
  };
  void failed(Host& host, base::TimePoint now) const;
  std::vector<Host> hosts_;
  base::Duration first_pause_;
};

}  // namespace plugfest
