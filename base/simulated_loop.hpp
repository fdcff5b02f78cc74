// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The event loop of simulated time: it jumps to the next timer, so that a deadline of a minute
// takes no real time.
#pragma once

#include "base/event_loop.hpp"
#include "base/timer_queue.hpp"

namespace base {

class SimulatedLoop final : public EventLoop {
 public:
  [[nodiscard]] TimePoint now() const override { return now_; }
  /// If no timer is left before the deadline, time jumps to the deadline.
  bool run_until(TimePoint deadline, const std::function<bool()>& done) override;
  TimerId schedule(TimePoint when, std::function<void()> callback) override {
    return timers_.add(when, std::move(callback));
  }
  void cancel(TimerId timer) override { timers_.cancel(timer); }

 private:
  TimerQueue timers_;
  TimePoint now_{};
  bool running_ = false;
};

}  // namespace base
