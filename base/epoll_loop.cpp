// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Real time and file descriptors over epoll.
#include "base/epoll_loop.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <system_error>
#include <unordered_map>

#include "base/file_descriptor.hpp"
#include "base/timer_queue.hpp"
#include "base/timespec.hpp"

namespace base {

namespace {

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

constexpr int timers_per_round = 16;  ///< then I/O gets its turn, lest deferred callbacks starve it
constexpr int rounds_per_dispatch = 16;  ///< of timers; then the owner's lock gets free

bool never() { return false; }

}  // namespace

class EpollLoop::State {
 public:
  State() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (!epoll_) throw_errno("epoll_create1");
  }

  bool run_until(TimePoint deadline, const std::function<bool()>& done) {
    const DispatchGuard guard(running_);
    if (done()) return true;
    while (true) {
      const Round timers = run_due_timers(done);
      if (timers == Round::done) return true;
      const Round events = poll(timers == Round::nothing ? deadline : TimePoint{}, done);
      if (events == Round::done) return true;
      // One round always runs, so that a deadline of "now" dispatches what is ready.
      if (has_passed(deadline)) return false;
    }
  }

  [[nodiscard]] bool await(Ready& ready, std::optional<Duration> limit) const {
    const auto most = static_cast<int>(ready.events.size());
    if (!limit || *limit <= Duration::zero()) {  // the kernel needs no timer
      ready.count = epoll_wait(epoll_.get(), ready.events.data(), most, limit ? 0 : -1);
    } else {
      const timespec timeout = timespec_of(*limit);
      ready.count = epoll_pwait2(epoll_.get(), ready.events.data(), most, &timeout, nullptr);
    }
    if (ready.count < 0 && errno != EINTR) throw_errno("epoll_wait");
    return ready.count >= 0;
  }

  void dispatch(const Ready& ready) {
    const DispatchGuard guard(running_);
    call_watchers(ready, never);
    run_some_due_timers();
  }

  bool hasten() {
    ++waits_;
    return timers_.hasten();
  }

  void dispatch_timers() {
    const DispatchGuard guard(running_);
    run_some_due_timers();
  }

  void control(int operation, int fd, std::uint32_t events, std::uint32_t generation) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = static_cast<std::uint64_t>(generation) << 32 | static_cast<std::uint32_t>(fd);
    if (epoll_ctl(epoll_.get(), operation, fd, &event) != 0) throw_errno("epoll_ctl");
  }

  [[nodiscard]] int descriptor() const { return epoll_.get(); }

  struct Watch {
    std::uint32_t generation;
    std::function<void(std::uint32_t)> callback;
  };

  TimerQueue timers_;
  std::unordered_map<int, std::shared_ptr<Watch>> watches_;
  std::uint64_t waits_ = 0;
  std::uint32_t generation_ = 0;  ///< tells a watch from an earlier one on the same number

 private:
  enum class Round : std::uint8_t { nothing, dispatched, done };

  /// To know it of no deadline, or of one that a poll has, takes no clock.
  static bool has_passed(TimePoint deadline) {
    return deadline != TimePoint::max() && (deadline == TimePoint{} || Clock::now() >= deadline);
  }

  Round run_due_timers(const std::function<bool()>& done) {
    if (!timers_.next()) return Round::nothing;
    const TimePoint now = Clock::now();
    Round round = Round::nothing;
    for (int i = 0; i < timers_per_round && timers_.next() && *timers_.next() <= now; ++i) {
      timers_.take()();
      if (done()) return Round::done;
      round = Round::dispatched;
    }
    return round;
  }

  void run_some_due_timers() {
    for (int i = 0; i < rounds_per_dispatch && run_due_timers(never) != Round::nothing; ++i) {
    }
  }

  Round poll(TimePoint deadline, const std::function<bool()>& done) {
    static_cast<void>(hasten());
    if (const auto next = timers_.next()) deadline = std::min(deadline, *next);
    std::optional<Duration> left;
    if (deadline == TimePoint{})
      left = Duration::zero();
    else if (deadline != TimePoint::max())
      left = deadline - Clock::now();
    Ready ready;
    static_cast<void>(await(ready, left));
    return call_watchers(ready, done);
  }

  Round call_watchers(const Ready& ready, const std::function<bool()>& done) {
    for (int i = 0; i < ready.count; ++i) {
      const epoll_event& event = ready.events[static_cast<std::size_t>(i)];
      const std::uint64_t key = event.data.u64;
      const auto found = watches_.find(static_cast<int>(key & 0xFFFFFFFFU));
      if (found == watches_.end() || found->second->generation != key >> 32) continue;
      const auto watch = found->second;  // it may be removed in its own callback
      watch->callback(event.events);
      if (done()) return Round::done;  // what is left is level-triggered and comes again
    }
    return ready.count > 0 ? Round::dispatched : Round::nothing;
  }

  FileDescriptor epoll_;
  bool running_ = false;
};

EpollLoop::EpollLoop() : state_(std::make_unique<State>()) {}
EpollLoop::~EpollLoop() = default;

TimePoint EpollLoop::now() const { return Clock::now(); }

bool EpollLoop::run_until(TimePoint deadline, const std::function<bool()>& done) {
  return state_->run_until(deadline, done);
}

TimerId EpollLoop::schedule(TimePoint when, std::function<void()> callback) {
  return state_->timers_.add(when, std::move(callback));
}

TimerId EpollLoop::defer(std::function<void()> callback) {
  return state_->timers_.add_due(now(), std::move(callback));
}

void EpollLoop::cancel(TimerId timer) { state_->timers_.cancel(timer); }

TimerId EpollLoop::schedule_before_wait(TimePoint latest, std::function<void()> callback) {
  return state_->timers_.add_early(latest, std::move(callback));
}

void EpollLoop::watch(int fd, std::uint32_t events, std::function<void(std::uint32_t)> callback) {
  assert(!state_->watches_.contains(fd) && "one watch per fd");
  const std::uint32_t generation = ++state_->generation_;
  state_->control(EPOLL_CTL_ADD, fd, events, generation);
  state_->watches_.emplace(
      fd, std::make_shared<State::Watch>(State::Watch{generation, std::move(callback)}));
}

void EpollLoop::change(int fd, std::uint32_t events) {
  const auto found = state_->watches_.find(fd);
  assert(found != state_->watches_.end() && "change() of an fd that is not watched");
  state_->control(EPOLL_CTL_MOD, fd, events, found->second->generation);
}

void EpollLoop::unwatch(int fd) {
  const auto found = state_->watches_.find(fd);
  if (found == state_->watches_.end()) return;
  const auto watch = found->second;  // its callback may own what calls us
  state_->watches_.erase(found);
  state_->control(EPOLL_CTL_DEL, fd, 0, 0);
}

bool EpollLoop::await(Ready& ready, std::optional<Duration> limit) const {
  return state_->await(ready, limit);
}

void EpollLoop::dispatch(const Ready& ready) { state_->dispatch(ready); }

void EpollLoop::dispatch_timers() { state_->dispatch_timers(); }

bool EpollLoop::before_wait() {
  if (!state_->hasten()) return false;
  state_->dispatch_timers();
  return true;
}

std::uint64_t EpollLoop::waits() const { return state_->waits_; }

int EpollLoop::descriptor() const { return state_->descriptor(); }

std::optional<TimePoint> EpollLoop::next_timer() const { return state_->timers_.next(); }

}  // namespace base
