// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The one lock, the one loop and the thread that drives it, for a consumer API whose calls come
// from any thread.
//
// The layers below run in one loop and do not use threads. Every call of the API takes the lock. A
// thread of the consumer that waits or polls drives the loop itself: no other thread stands between
// it and its connections. The progress thread drives while no consumer does. Who drives holds the
// lock while it dispatches and releases it while it waits. What has to run without the lock, such as
// a consumer's own function, is passed to the progress thread.
//
// As on that thread, an exception out of what is dispatched ends the process: who drives on behalf of
// others cannot report it to them. A thread that may be cancelled disables that before it calls.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/epoll_loop.hpp"
#include "base/file_descriptor.hpp"
#include "reference_rnic/access/no_cancellation.hpp"
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

  /// Runs what the call has made due, and wakes whoever drives the loop if it has something to do
  /// sooner than expected. To be called at the end of a call, before the lock is released.
  void nudge() noexcept;
  /// Dispatches what is ready, for a consumer that polls, with the lock held. While it goes on
  /// polling, the thread leaves the descriptors to it: two that dispatch hinder each other.
  void poll() noexcept;
  /// For a consumer that has found what it wanted without dispatching, with the lock held: dispatches
  /// now and then, lest the thread take over from a consumer that always finds something.
  void keep_polling() noexcept;
  /// Runs `function` soon, on the progress thread and without the lock.
  void call_unlocked(std::function<void()> function);
  enum class Waited : std::uint8_t { done, timed_out, signaled };
  /// Waits for `done()`, which is evaluated under the lock, again after each wakeup; or until the
  /// deadline has passed, or this thread has handled a signal. Drives the loop, unless another
  /// consumer does.
  Waited wait(Lock& lock, Wakeup& wakeup, std::optional<Wakeup::Clock::time_point> deadline,
              const std::function<bool()>& done);
  /// The same without a limit, for a call that is a point of cancellation. Nothing: another consumer
  /// drives, and nothing has been waited for.
  std::optional<Waited> drive_until(Lock& lock, Wakeup& wakeup, const NoCancellation& call,
                                    const std::function<bool()>& done);
  /// Waits for `done()` without a limit.
  static void wait(Lock& lock, Wakeup& wakeup, const std::function<bool()>& done);

 private:
  void run(std::uint64_t mine, int wake);
  void await_work(Lock& lock, std::uint64_t mine, int wake);
  void wake();
  [[nodiscard]] bool consumers_drive(base::TimePoint now) const;
  [[nodiscard]] Wakeup::Cause drive(Lock& lock, Wakeup& wakeup,
                                    std::optional<Wakeup::Clock::time_point> deadline,
                                    const NoCancellation* call = nullptr);
  void dispatch(const base::EpollLoop::Ready& ready) noexcept { loop_.dispatch(ready); }
  void hand_over();
  [[nodiscard]] Wakeup::Cause wait_beside(Lock& lock, Wakeup& wakeup,
                                          std::optional<Wakeup::Clock::time_point> deadline);
  void consumer_has_driven();
  class Asleep;
  friend class PromptProgress;

  std::mutex mutex_;
  base::EpollLoop loop_;
  std::thread thread_;
  std::shared_ptr<base::FileDescriptor> wake_;  ///< of this thread: an older one has its own
  unsigned users_ = 0;
  std::uint64_t generation_ = 0;  ///< of the thread: an older one ends
  std::optional<base::TimePoint> thread_sleeps_until_;
  std::optional<base::TimePoint> driver_sleeps_until_;  ///< a consumer drives, and waits
  base::FileDescriptor interrupt_;                      ///< in the loop: ends the driver's wait
  std::vector<Wakeup*> beside_;     ///< of consumers that wait while another drives
  base::TimePoint polled_until_{};  ///< until then a consumer is expected to drive again
  unsigned prompt_ = 0;             ///< uses of PromptProgress
  bool thread_drives_ = false;      ///< it sleeps until a descriptor is ready
  std::vector<std::function<void()>> unlocked_;
};

/// While it is on, a consumer may wait for a descriptor, or for a function that is called, instead of
/// calling us: then the thread drives at once whenever no consumer does. To be used under the lock.
class PromptProgress {
 public:
  explicit PromptProgress(ProgressThread& thread) : thread_(thread) {}
  ~PromptProgress() { set(false); }
  PromptProgress(const PromptProgress&) = delete;
  PromptProgress& operator=(const PromptProgress&) = delete;
  void set(bool on);

 private:
  ProgressThread& thread_;
  bool on_ = false;
};

}  // namespace rnic::access
