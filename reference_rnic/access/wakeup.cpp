// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/access/wakeup.hpp"

#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>

#include "base/timespec.hpp"

namespace rnic::access {

namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

// Without a timeout the kernel would continue to sleep after a handler that was installed with
// SA_RESTART; with one it never does. So there is always a timeout.
constexpr auto longest = std::chrono::hours(1);

int futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
          const timespec* timeout) {
  const long result =
      ::syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, timeout, nullptr, 0);
  return result < 0 ? errno : 0;
}

}  // namespace

void Wakeup::wake_all() {
  ++count_;
  if (descriptor_ >= 0) eventfd_write(descriptor_, 1);
  if (sleepers_ > 0) static_cast<void>(futex(count_, FUTEX_WAKE, INT_MAX, nullptr));
}

Wakeup::Cause Wakeup::wait(std::unique_lock<std::mutex>& lock,
                           std::optional<Clock::time_point> deadline) {
  using std::chrono::nanoseconds;
  const Clock::time_point now = Clock::now();
  if (deadline && *deadline <= now) return Cause::timed_out;
  const auto left = deadline ? std::min<nanoseconds>(*deadline - now, longest) : longest;
  const timespec timeout = base::timespec_of(left);
  const std::uint32_t seen = count_;
  ++sleepers_;
  lock.unlock();
  const int fault = futex(count_, FUTEX_WAIT, seen, &timeout);
  lock.lock();
  --sleepers_;
  return fault == EINTR ? Cause::signaled : Cause::woken;
}

}  // namespace rnic::access
