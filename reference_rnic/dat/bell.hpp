// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where threads of the consumer sleep until something has changed. A condition variable would do,
// but it does not report signals, and DAT's waits return when one was handled.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

namespace rnic::dat {

class Bell {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Woken : std::uint8_t {
    rung,      ///< perhaps by nobody: look again
    signaled,  ///< the thread has run a signal handler
    late       ///< the deadline has passed
  };

  Bell() = default;
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  /// Wakes all. To be called under the lock that wait() releases.
  void ring();
  /// Sleeps without the lock, and holds it again on return. No deadline: for as long as it takes.
  Woken wait(std::unique_lock<std::mutex>& lock, std::optional<Clock::time_point> deadline);

 private:
  std::atomic<std::uint32_t> rings_ = 0;
};

}  // namespace rnic::dat
