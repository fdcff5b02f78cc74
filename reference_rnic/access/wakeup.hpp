// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Lets threads of the consumer sleep until something has changed. A condition variable would do,
// but it does not report signals, and the waits of DAT return when a signal was handled.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

namespace rnic::access {

class Wakeup {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Cause : std::uint8_t {
    woken,     ///< perhaps without a cause: check again
    signaled,  ///< the thread has run a signal handler
    timed_out  ///< the deadline has passed
  };

  Wakeup() = default;
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  /// Wakes all. To be called under the lock that wait() releases.
  void wake_all();
  /// Sleeps without the lock, and holds it again on return. No deadline: for as long as it takes.
  Cause wait(std::unique_lock<std::mutex>& lock, std::optional<Clock::time_point> deadline);
  /// Until the next call with -1 one of those who wait polls instead of sleeping: it is woken by a
  /// write to this eventfd. To be called under the lock.
  void polled_through(int descriptor) { descriptor_ = descriptor; }

 private:
  std::atomic<std::uint32_t> count_ = 0;
  unsigned sleepers_ = 0;
  int descriptor_ = -1;
};

}  // namespace rnic::access
