// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What all IAs of a process share: the progress thread with its lock and loop, and the handles.
#pragma once

#include <chrono>
#include <functional>
#include <new>
#include <optional>
#include <utility>

#include "reference_rnic/access/no_cancellation.hpp"
#include "reference_rnic/access/progress_thread.hpp"
#include "reference_rnic/dat/handle_table.hpp"

namespace rnic::dat {

class Engine : public access::ProgressThread {
 public:
  [[nodiscard]] HandleTable& handles() { return handles_; }
  /// As of dat_evd_wait.
  using ProgressThread::wait;
  Waited wait(Lock& lock, access::Wakeup& wakeup, DAT_TIMEOUT timeout,
              const std::function<bool()>& done) {
    std::optional<access::Wakeup::Clock::time_point> deadline;
    if (timeout != DAT_TIMEOUT_INFINITE)
      deadline = access::Wakeup::Clock::now() + std::chrono::microseconds(timeout);
    return ProgressThread::wait(lock, wakeup, deadline, done);
  }

 private:
  HandleTable handles_;
};

/// The process's engine. libdat2 calls a provider without passing any context, so this has to be a
/// global object; it is never destroyed.
[[nodiscard]] Engine& engine();

/// Runs one DAT call under the lock: `body(Engine&, Engine::Lock&)`.
template <typename Body>
DAT_RETURN call(Body&& body) noexcept {
  const access::NoCancellation whole;
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
