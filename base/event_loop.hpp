// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An event loop is a clock and a poll: everything that waits, waits in `run_until`. Real time over
// epoll (`EpollLoop`), or simulated time (`SimulatedLoop`).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

namespace base {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Duration = Clock::duration;
enum class TimerId : std::uint64_t {};

class EventLoop {
 public:
  virtual ~EventLoop() = default;

  [[nodiscard]] virtual TimePoint now() const = 0;
  /// Dispatches timers and I/O until `done()` returns true (true) or the deadline has passed
  /// (false). `done` is called first and after each dispatched event. Not to be called from inside
  /// a callback.
  virtual bool run_until(TimePoint deadline, const std::function<bool()>& done) = 0;
  virtual TimerId schedule(TimePoint when, std::function<void()> callback) = 0;
  virtual void cancel(TimerId timer) = 0;

  /// Runs `callback` before the loop waits next, but not after `latest`. For what becomes cheaper if
  /// more of it comes together meanwhile.
  virtual TimerId schedule_before_wait(TimePoint /*latest*/, std::function<void()> callback) {
    return defer(std::move(callback));
  }
  /// Grows whenever the loop is about to wait, or looks what is ready.
  [[nodiscard]] virtual std::uint64_t waits() const { return 0; }

  /// Runs `callback` from the dispatch loop as soon as possible: this breaks recursion between two
  /// objects.
  virtual TimerId defer(std::function<void()> callback) {
    return schedule(now(), std::move(callback));
  }
};

}  // namespace base
