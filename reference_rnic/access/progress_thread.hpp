// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The one lock, the one loop and the thread that drives it, for a consumer API whose calls come
// from any thread.
//
// The layers below run in one loop and do not use threads. Every call of the API takes the lock;
// the progress thread holds it while it dispatches and releases it while it waits. What has to run
// without the lock, such as a consumer's own function, is passed to that thread.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/epoll_loop.hpp"
#include "base/file_descriptor.hpp"
#include "reference_rnic/access/wakeup.hpp"

namespace rnic::access {

class ProgressThread {
 public:
  using Lock = std::unique_lock<std::mutex>;

  ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  [[nodiscard]] Lock lock() { return Lock(mutex_); }
  [[nodiscard]] base::EpollLoop& loop() { return loop_; }

  /// The thread runs while somebody uses it. Both are called with the lock held; leave() may release
  /// it to wait for the end of the thread.
  void enter();
  void leave(Lock& lock);

  /// Wakes the progress thread if the loop has something to do before the thread would wake up. To
  /// be called before the lock is released.
  void nudge();
  /// Dispatches what is ready, for a consumer that polls, with the lock held. While it goes on
  /// polling, the thread leaves the descriptors to it: two that dispatch hinder each other.
  void poll();
  /// The consumer is about to wait: the thread takes over at once.
  void poll_no_more();
  /// Runs `function` soon, on the progress thread and without the lock.
  void call_unlocked(std::function<void()> function);
  enum class Waited : std::uint8_t { done, timed_out, signaled };
  /// Waits for `done()`, which is evaluated under the lock, again after each wakeup; or until the
  /// deadline has passed, or this thread has handled a signal.
  Waited wait(Lock& lock, Wakeup& wakeup, std::optional<Wakeup::Clock::time_point> deadline,
              const std::function<bool()>& done);
  /// Waits for `done()` without a limit.
  static void wait(Lock& lock, Wakeup& wakeup, const std::function<bool()>& done);

 private:
  void run(std::uint64_t mine);
  void await_work(Lock& lock);
  void wake();

  std::mutex mutex_;
  base::EpollLoop loop_;
  base::FileDescriptor wake_;
  std::thread thread_;
  unsigned users_ = 0;
  std::uint64_t generation_ = 0;  ///< of the thread: an older one ends
  std::optional<base::TimePoint> sleeps_until_;
  base::TimePoint polled_until_{};  ///< until then a consumer is expected to poll again
  std::vector<std::function<void()>> unlocked_;
};

}  // namespace rnic::access
