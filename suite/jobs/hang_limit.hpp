// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// When a worker counts as hung: it sends nothing for too long, or it takes too long altogether,
// even if it sends `alive`.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "base/epoll_loop.hpp"

namespace suite::jobs {

/// The time for a worker to start together with its agent, on a slow host, say, through ssh.
constexpr auto time_to_start = std::chrono::seconds(60);
/// The time for a worker that is sending a long message to send another part of it.
constexpr auto time_for_the_rest = std::chrono::seconds(10);

class HangLimit {
 public:
  /// `hung` is called from the event loop when a limit is passed, once for each set().
  HangLimit(base::EpollLoop& loop, std::function<void()> hung);
  ~HangLimit() { lift(); }
  HangLimit(const HangLimit&) = delete;
  HangLimit& operator=(const HangLimit&) = delete;

  /// From here on it may be silent for this long, and take this long altogether.
  void set(std::chrono::nanoseconds silence, std::chrono::nanoseconds total);
  /// The worker has sent something: it may be silent as long again.
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
