// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// When a worker counts as hung: it is silent for too long, or it takes too long in all, however
// alive it is.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "base/epoll_loop.hpp"
#include "suite/cases/framework/case.hpp"

namespace suite::runner {

/// For a worker to start, and its agent with it.
constexpr auto time_to_start = std::chrono::seconds(60);  // an agent on a slow host, through ssh
/// Each data row of a case has a deadline of its own.
constexpr int most_rows = 64;
/// How long a worker that runs this case may give no sign of life.
[[nodiscard]] std::chrono::nanoseconds tolerated_silence(const cases::Case& one,
                                                         double deadline_scale);

class HangLimit {
 public:
  /// `hung` is called from the event loop when a limit is passed.
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
  /// A limit was passed.
  [[nodiscard]] bool passed() const { return passed_; }

 private:
  void schedule();

  base::EpollLoop& loop_;
  std::function<void()> hung_;
  std::optional<base::TimerId> timer_;
  std::chrono::nanoseconds silence_{};
  base::TimePoint latest_end_{};
  bool passed_ = false;
};

}  // namespace suite::runner
