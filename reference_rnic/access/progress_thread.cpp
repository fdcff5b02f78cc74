// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The progress thread: dispatches under the lock, waits without it.
#include "reference_rnic/access/progress_thread.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace rnic::access {

namespace {

using namespace std::chrono_literals;

/// Between two polls of a consumer. If it stops polling, this is how late the thread takes over.
constexpr auto longest_pause = 1ms;

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

}  // namespace

ProgressThread::ProgressThread() : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_) throw std::system_error(errno, std::generic_category(), "eventfd");
}

void ProgressThread::enter() {
  if (users_++ > 0) return;
  const SignalsBlocked blocked;
  thread_ = std::thread([this, mine = ++generation_] { run(mine); });
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

void ProgressThread::run(std::uint64_t mine) {
  Lock lock = this->lock();
  while (mine == generation_) {
    loop_.run_until(loop_.now(), [] { return false; });
    if (const auto calls = std::exchange(unlocked_, {}); !calls.empty()) {
      lock.unlock();
      for (const auto& function : calls) function();
      lock.lock();
      continue;
    }
    await_work(lock);
  }
}

void ProgressThread::await_work(Lock& lock) {
  const base::TimePoint now = loop_.now();
  const bool polled = polled_until_ > now;
  const base::TimePoint latest = polled ? polled_until_ : now + 60s;
  const base::TimePoint until = std::min(loop_.next_timer().value_or(latest), latest);
  const auto left = std::max(std::chrono::ceil<std::chrono::nanoseconds>(until - now), 0ns);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  const timespec timeout{seconds.count(), (left - seconds).count()};
  const std::array<int, 2> descriptors{wake_.get(), polled ? -1 : loop_.descriptor()};
  std::array<pollfd, 2> watched{pollfd{descriptors[0], POLLIN, 0},
                                pollfd{descriptors[1], POLLIN, 0}};
  sleeps_until_ = until;
  lock.unlock();
  ppoll(watched.data(), watched.size(), &timeout, nullptr);
  lock.lock();
  sleeps_until_.reset();
  eventfd_t count = 0;
  eventfd_read(wake_.get(), &count);
}

void ProgressThread::poll() {
  loop_.run_until(loop_.now(), [] { return false; });
  polled_until_ = loop_.now() + longest_pause;
}

void ProgressThread::poll_no_more() {
  if (std::exchange(polled_until_, {}) > loop_.now()) wake();
}

void ProgressThread::wake() { eventfd_write(wake_.get(), 1); }

void ProgressThread::nudge() {
  const auto next = loop_.next_timer();
  if (!sleeps_until_ || (unlocked_.empty() && (!next || *next >= *sleeps_until_))) return;
  sleeps_until_.reset();  // the thread is awake from here on
  wake();
}

void ProgressThread::call_unlocked(std::function<void()> function) {
  unlocked_.push_back(std::move(function));
}

auto ProgressThread::wait(Lock& lock, Wakeup& wakeup,
                          std::optional<Wakeup::Clock::time_point> deadline,
                          const std::function<bool()>& done) -> Waited {
  nudge();
  while (!done()) {
    const Wakeup::Cause cause = wakeup.wait(lock, deadline);
    if (cause == Wakeup::Cause::woken || done()) continue;
    return cause == Wakeup::Cause::timed_out ? Waited::timed_out : Waited::signaled;
  }
  return Waited::done;
}

void ProgressThread::wait(Lock& lock, Wakeup& wakeup, const std::function<bool()>& done) {
  while (!done()) wakeup.wait(lock, std::nullopt);
}

}  // namespace rnic::access
