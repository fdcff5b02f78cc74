// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The event loop of real time and real file descriptors, over epoll.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <memory>
#include <optional>

#include "base/event_loop.hpp"

namespace base {

class EpollLoop final : public EventLoop {
 public:
  EpollLoop();
  ~EpollLoop() override;
  EpollLoop(const EpollLoop&) = delete;
  EpollLoop& operator=(const EpollLoop&) = delete;

  [[nodiscard]] TimePoint now() const override;
  bool run_until(TimePoint deadline, const std::function<bool()>& done) override;
  TimerId schedule(TimePoint when, std::function<void()> callback) override;
  void cancel(TimerId timer) override;
  TimerId defer(std::function<void()> callback) override;
  TimerId schedule_before_wait(TimePoint latest, std::function<void()> callback) override;
  [[nodiscard]] std::uint64_t waits() const override;

  /// Calls `callback(epoll_events)` whenever one of `events` (EPOLLIN, EPOLLOUT, ...) holds for
  /// `fd`, level-triggered. One watch per fd.
  void watch(int fd, std::uint32_t events, std::function<void(std::uint32_t)> callback);
  void change(int fd, std::uint32_t events);
  void unwatch(int fd);  ///< before the fd is closed; an fd that is not watched is left alone

  // For an owner that waits by itself, with its lock released.

  struct Ready {
    std::array<epoll_event, 32> events;
    int count = 0;
  };
  /// Waits until one of the watched is ready, for so long at most, or for as long as it takes. It needs
  /// no lock. False: a signal handler has run.
  [[nodiscard]] bool await(Ready& ready, std::optional<Duration> limit) const;
  /// Dispatches what await() has found, and timers that are due: many, but not for ever if each adds
  /// another.
  void dispatch(const Ready& ready);
  void dispatch_timers();
  /// To be called before await(): then nothing that is scheduled before a wait is left. True: it has run
  /// something.
  [[nodiscard]] bool before_wait();
  [[nodiscard]] int descriptor() const;  ///< readable when one of the watched is ready
  [[nodiscard]] std::optional<TimePoint> next_timer() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace base
