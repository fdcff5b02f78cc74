// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Ends an agent whose client has gone and that hangs in a call of the API, so that it does not stay
// on the host of the IUT. C++17 only.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace suite::upper_tester {

class Watchdog {
 public:
  /// The exit status of a process that the watchdog ends.
  static constexpr int hung = 4;
  /// Enough to release all that a device holds.
  static constexpr std::chrono::milliseconds usual_timeout{10000};

  /// Watches `input` for its other end to be closed. From then on `turns` must change within each
  /// `timeout`, until the watchdog is destroyed.
  Watchdog(int input, const std::atomic<unsigned>& turns,
           std::chrono::milliseconds timeout = usual_timeout);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch(int input, const std::atomic<unsigned>& turns, std::chrono::milliseconds timeout);
  [[nodiscard]] bool dismissed_within(std::chrono::milliseconds time) const;

  int dismissed_;  ///< an eventfd: readable once the watchdog shall end
  std::thread thread_;
};

}  // namespace suite::upper_tester
