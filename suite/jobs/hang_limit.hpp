// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// When a worker counts as hung: it is silent for too long, or it takes too long in all, however
// alive it is.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "base/epoll_loop.hpp"

namespace suite::jobs {

/// For a worker to start, and its agent with it: one on a slow host, say, through ssh.
constexpr auto time_to_start = std::chrono::seconds(60);

class HangLimit {
 public:
  /// `hung` is called from the event loop when a limit is passed, once for each set().
  HangLimit(base::EpollLoop& loop, std::function<void()> hung);
  ~HangLimit() { lift(); }
  HangLimit(const HangLimit&) = delete;
  HangLimit& operator=(const HangLimit&) = delete;

  /// From now on it may be silent for so long, and take so long in all.
  void set(std::chrono::nanoseconds silence, std::chrono::nanoseconds total);
  /// A sign of life: it may be silent as long again.
  void alive();
  /// There is nothing to wait for.
  void lift();

 private:
  void schedule();

  base::EpollLoop& loop_;
  std::function<void()> hung_;
  std::optional<base::TimerId> timer_;
  std::chrono::nanoseconds silence_{};
  base::TimePoint latest_end_{};
};

}  // namespace suite::jobs
