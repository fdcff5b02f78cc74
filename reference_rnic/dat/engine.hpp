// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The one lock, the one loop and the thread that drives it, for all IAs of a process.
//
// The layers below run in one loop and do not use threads. Every DAT call takes the lock; the
// progress thread holds it while it dispatches and releases it while it waits. What has to run
// without the lock, such as a consumer's own function, is passed to that thread.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/epoll_loop.hpp"
#include "base/file_descriptor.hpp"
#include "reference_rnic/dat/handle_table.hpp"
#include "reference_rnic/dat/wakeup.hpp"

namespace rnic::dat {

class Engine {
 public:
  using Lock = std::unique_lock<std::mutex>;

  Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] Lock lock() { return Lock(mutex_); }
  [[nodiscard]] base::EpollLoop& loop() { return loop_; }
  [[nodiscard]] HandleTable& handles() { return handles_; }

  /// The thread runs while an IA is open.
  void ia_opened();
  void ia_closed(Lock& lock);

  /// Wakes the progress thread if the loop has something to do before the thread would wake up. To
  /// be called before the lock is released.
  void nudge();
  /// Runs `function` soon, on the progress thread and without the lock.
  void call_unlocked(std::function<void()> function);
  enum class Waited : std::uint8_t { done, timed_out, signaled };
  /// Waits for `done()`, which is evaluated under the lock, again after each wakeup; or until
  /// the time is up, or this thread has handled a signal.
  Waited wait(Lock& lock, Wakeup& wakeup, DAT_TIMEOUT timeout, const std::function<bool()>& done);
  /// Waits for `done()` without a limit.
  static void wait(Lock& lock, Wakeup& wakeup, const std::function<bool()>& done);

 private:
  void run(std::uint64_t mine);
  void await_work(Lock& lock);
  void wake();

  std::mutex mutex_;
  base::EpollLoop loop_;
  HandleTable handles_;
  base::FileDescriptor wake_;
  std::thread thread_;
  unsigned open_ias_ = 0;
  std::uint64_t generation_ = 0;  ///< of the thread: an older one ends
  std::optional<base::TimePoint> sleeps_until_;
  std::vector<std::function<void()>> unlocked_;
};

/// The process's engine. libdat2 calls a provider without passing any context, so this has to be a
/// global object; it is never destroyed.
[[nodiscard]] Engine& engine();

/// Runs one DAT call under the lock: `body(Engine&, Engine::Lock&)`.
template <typename Body>
DAT_RETURN call(Body&& body) noexcept {
  try {
    Engine& shared = engine();
    Engine::Lock lock = shared.lock();
    const DAT_RETURN result = std::forward<Body>(body)(shared, lock);
    if (lock.owns_lock()) shared.nudge();
    return result;
  } catch (const std::bad_alloc&) {
    return failure(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
  } catch (...) {
    return failure(DAT_INTERNAL_ERROR);
  }
}

/// Runs one DAT call on a live object of kind T: `body(T&)`.
template <typename T, typename Body>
DAT_RETURN call_on(DAT_HANDLE handle, Body&& body) noexcept {
  return call([&](Engine& shared, Engine::Lock&) -> DAT_RETURN {
    T* object = shared.handles().find<T>(handle);
    if (object == nullptr) return invalid_handle(T::subtype);
    return body(*object);
  });
}

/// The live object of kind T that `handle` names.
template <typename T>
[[nodiscard]] T* find(DAT_HANDLE handle) {
  return engine().handles().find<T>(handle);
}

}  // namespace rnic::dat
