// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whoever drives the loop dispatches under the lock, and waits without it.
#include "reference_rnic/access/progress_thread.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "base/timespec.hpp"

namespace rnic::access {

namespace {

using namespace std::chrono_literals;

/// Between two times that a consumer polls or waits. If it does so no more, this is how late the
/// thread takes over.
constexpr auto longest_pause = 1ms;
/// So long after the last of these the thread looks at every pause whether it has to take over.
constexpr auto watchful_for = 20ms;
/// Of the thread, instead of for ever, which spares the arithmetic an overflow.
constexpr auto longest_wait = 60s;

/// Signals are for the consumer's own threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

base::FileDescriptor event_descriptor() {
  base::FileDescriptor made(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made) throw std::system_error(errno, std::generic_category(), "eventfd");
  return made;
}

void clear(int descriptor) {
  eventfd_t count = 0;
  eventfd_read(descriptor, &count);
}

}  // namespace

ProgressThread::ProgressThread() : interrupt_(event_descriptor()) {
  // It is for the driver: who polls while the driver sleeps must leave it there.
  loop_.watch(interrupt_.get(), EPOLLIN, [this](std::uint32_t) {
    if (!driver_sleeps_until_) clear(interrupt_.get());
  });
}

void ProgressThread::enter() {
  if (users_ == 0) {
    wake_ = std::make_shared<base::FileDescriptor>(event_descriptor());
    const SignalsBlocked blocked;
    thread_ = std::thread([this, mine = ++generation_, wake = wake_] { run(mine, wake->get()); });
    thread_sleeps_until_.reset();
  }
  ++users_;
}

void ProgressThread::leave(Lock& lock) {
  if (--users_ > 0) return;
  ++generation_;
  wake();
  std::thread ending = std::exchange(thread_, {});
  lock.unlock();
  if (ending.get_id() == std::this_thread::get_id())
    ending.detach();  // called by a function of call_unlocked()
  else
    ending.join();
}

void ProgressThread::run(std::uint64_t mine, int wake) {
  Lock lock = this->lock();
  while (mine == generation_) {
    if (!consumers_drive(loop_.now())) loop_.run_until(loop_.now(), [] { return false; });
    if (const auto calls = std::exchange(unlocked_, {}); !calls.empty()) {
      lock.unlock();
      for (const auto& function : calls) function();
      lock.lock();
      continue;
    }
    await_work(lock, mine, wake);
  }
}

bool ProgressThread::consumers_drive(base::TimePoint now) const {
  return driver_sleeps_until_ || polled_until_ > now;
}

void ProgressThread::await_work(Lock& lock, std::uint64_t mine, int wake) {
  const base::TimePoint now = loop_.now();
  const bool drives = !consumers_drive(now);
  const bool watchful = polled_until_ + watchful_for > now;
  base::TimePoint until = now + (watchful ? base::Duration(longest_pause) : longest_wait);
  if (drives) until = std::min(loop_.next_timer().value_or(until), until);
  const timespec timeout = base::timespec_of(std::max(until - now, base::Duration::zero()));
  std::array<pollfd, 2> watched{pollfd{wake, POLLIN, 0},
                                pollfd{drives ? loop_.descriptor() : -1, POLLIN, 0}};
  thread_sleeps_until_ = until;
  thread_drives_ = drives;
  lock.unlock();
  ppoll(watched.data(), watched.size(), &timeout, nullptr);
  lock.lock();
  if (mine != generation_) return;  // all else may be the next thread's by now
  thread_sleeps_until_.reset();
  if (watched[0].revents != 0) clear(wake);
}

void ProgressThread::poll() noexcept {
  loop_.run_until({}, [] { return false; });
  consumer_has_driven();
}

void ProgressThread::keep_polling() noexcept {
  if (prompt_ == 0 && loop_.now() + longest_pause / 2 > polled_until_) poll();
}

/// The thread leaves the loop to this consumer for a pause.
void ProgressThread::consumer_has_driven() {
  polled_until_ = prompt_ > 0 ? base::TimePoint{} : loop_.now() + longest_pause;
  if (driver_sleeps_until_ || !thread_sleeps_until_ || thread_drives_) return;
  if (prompt_ > 0 || *thread_sleeps_until_ > polled_until_ + watchful_for) wake();
}

void PromptProgress::set(bool on) {
  if (std::exchange(on_, on) == on) return;
  on ? ++thread_.prompt_ : --thread_.prompt_;
  if (!on) return;
  thread_.polled_until_ = {};
  if (thread_.thread_sleeps_until_ && !thread_.thread_drives_ && !thread_.driver_sleeps_until_)
    thread_.wake();
}

void ProgressThread::wake() {
  thread_sleeps_until_.reset();  // it is awake from here on
  eventfd_write(wake_->get(), 1);
}

void ProgressThread::nudge() noexcept {
  if (!loop_.next_timer()) return;
  loop_.dispatch_timers();
  const auto next = loop_.next_timer();
  if (!next) return;
  if (driver_sleeps_until_) {
    if (*next < *driver_sleeps_until_) eventfd_write(interrupt_.get(), 1);
  } else if (thread_sleeps_until_ && *next < *thread_sleeps_until_) {
    wake();
  }
}

void ProgressThread::call_unlocked(std::function<void()> function) {
  unlocked_.push_back(std::move(function));
  if (thread_sleeps_until_) wake();
}

auto ProgressThread::wait(Lock& lock, Wakeup& wakeup,
                          std::optional<Wakeup::Clock::time_point> deadline,
                          const std::function<bool()>& done) -> Waited {
  nudge();
  Waited how = Waited::done;
  bool drove = false;
  while (!done()) {
    const bool drives = !driver_sleeps_until_;
    drove = drove || drives;
    const Wakeup::Cause cause =
        drives ? drive(lock, wakeup, deadline) : wait_beside(lock, wakeup, deadline);
    if (cause == Wakeup::Cause::woken || done()) continue;
    how = cause == Wakeup::Cause::timed_out ? Waited::timed_out : Waited::signaled;
    break;
  }
  if (drove) consumer_has_driven();
  hand_over();
  return how;
}

std::optional<ProgressThread::Waited> ProgressThread::drive_until(
    Lock& lock, Wakeup& wakeup, const NoCancellation& call, const std::function<bool()>& done) {
  nudge();
  if (done()) return Waited::done;
  if (driver_sleeps_until_) return std::nullopt;
  struct Driving {  // it ends if the thread is cancelled, too
    ~Driving() {
      shared.consumer_has_driven();
      shared.hand_over();
    }
    ProgressThread& shared;
  } const driving{*this};
  while (!done())
    if (drive(lock, wakeup, std::nullopt, &call) == Wakeup::Cause::signaled && !done())
      return Waited::signaled;
  return Waited::done;
}

/// One of those who wait beside a driver takes its place, if that is free.
void ProgressThread::hand_over() {
  if (!driver_sleeps_until_ && !beside_.empty()) beside_.back()->wake_all();
}

/// Another consumer drives; when it does so no more, it wakes one of those who wait beside it.
Wakeup::Cause ProgressThread::wait_beside(Lock& lock, Wakeup& wakeup,
                                          std::optional<Wakeup::Clock::time_point> deadline) {
  beside_.push_back(&wakeup);
  const Wakeup::Cause cause = wakeup.wait(lock, deadline);
  beside_.erase(std::ranges::find(beside_, &wakeup));
  return cause;
}

/// The time that the driver spends without the lock.
class ProgressThread::Asleep {
 public:
  Asleep(ProgressThread& shared, Lock& lock, Wakeup& wakeup, base::TimePoint until)
      : shared_(shared), lock_(lock), wakeup_(wakeup) {
    shared_.driver_sleeps_until_ = until;
    wakeup_.polled_through(shared_.interrupt_.get());
    lock_.unlock();
  }
  ~Asleep() {
    lock_.lock();
    wakeup_.polled_through(-1);
    shared_.driver_sleeps_until_.reset();
  }
  Asleep(const Asleep&) = delete;
  Asleep& operator=(const Asleep&) = delete;

 private:
  ProgressThread& shared_;
  Lock& lock_;
  Wakeup& wakeup_;
};

Wakeup::Cause ProgressThread::drive(Lock& lock, Wakeup& wakeup,
                                    std::optional<Wakeup::Clock::time_point> deadline,
                                    const NoCancellation* call) {
  if (loop_.before_wait()) return Wakeup::Cause::woken;  // perhaps it was waited for
  const base::TimePoint now = loop_.now();
  if (deadline && *deadline <= now) return Wakeup::Cause::timed_out;
  constexpr base::TimePoint no_limit = base::TimePoint::max();
  const base::TimePoint until =
      std::min(deadline.value_or(no_limit), loop_.next_timer().value_or(no_limit));
  base::EpollLoop::Ready ready;
  bool undisturbed = true;
  {
    const Asleep asleep(*this, lock, wakeup, until);
    const NoCancellation::Exception here(call);
    undisturbed = loop_.await(ready, until == no_limit ? std::nullopt : std::optional(until - now));
  }
  dispatch(ready);
  return undisturbed ? Wakeup::Cause::woken : Wakeup::Cause::signaled;
}

void ProgressThread::wait(Lock& lock, Wakeup& wakeup, const std::function<bool()>& done) {
  while (!done()) wakeup.wait(lock, std::nullopt);
}

}  // namespace rnic::access
