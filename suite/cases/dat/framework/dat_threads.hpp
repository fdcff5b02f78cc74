// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Threads of a case: several that call at the same time, and one that is known to be blocked.
#pragma once

#include <signal.h>  // NOLINT(modernize-deprecated-headers): pthread_kill
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace suite::cases::dat {

/// Runs `body(number)` on that many threads, begun together, and joins them.
template <typename Body>
void at_once(int count, Body body) {
  std::barrier start(count);
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&start, &body, i] {
      start.arrive_and_wait();
      body(i);
    });
}

/// A thread in a call that blocks. The constructor returns once the kernel reports that it sleeps,
/// or after a while: a provider may spin.
class Blocked {
 public:
  explicit Blocked(const std::function<void()>& call)
      : thread_([this, call] {
          id_ = ::gettid();
          call();
          over_ = true;
        }) {
    wait_until_asleep();
  }
  void join() { thread_.join(); }
  /// Sends it a signal whose handler does nothing. Returns when the call has returned or when,
  /// after the handler, it sleeps again.
  void interrupt() {
    static std::atomic<int> handled;  // in the handler of whichever thread
    handled = 0;
    struct sigaction action{};
    action.sa_handler = [](int) { ++handled; };
    ::sigaction(SIGUSR1, &action, nullptr);
    ::pthread_kill(thread_.native_handle(), SIGUSR1);
    while (handled == 0) std::this_thread::yield();
    wait_until_asleep();
  }
  [[nodiscard]] bool over() const { return over_; }

 private:
  void wait_until_asleep() const {
    using Clock = std::chrono::steady_clock;
    const auto latest = Clock::now() + std::chrono::milliseconds(200);
    while (!asleep() && !over_ && Clock::now() < latest) std::this_thread::yield();
  }
  [[nodiscard]] bool asleep() const {
    if (id_ == 0) return false;
    std::ifstream file("/proc/self/task/" + std::to_string(id_) + "/stat");
    std::string line;
    std::getline(file, line);
    const std::size_t name_end = line.rfind(") ");
    return name_end != std::string::npos && line.substr(name_end + 2, 1) == "S";
  }

  std::atomic<int> id_ = 0;
  std::atomic<bool> over_ = false;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace suite::cases::dat
