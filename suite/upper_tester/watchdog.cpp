// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/watchdog.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

namespace suite::upper_tester {

Watchdog::Watchdog(int input, const std::atomic<unsigned>& turns, std::chrono::milliseconds timeout)
    : dismissed_(::eventfd(0, EFD_CLOEXEC)) {
  // Signals are for the thread that talks.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this, input, &turns, timeout] { watch(input, turns, timeout); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Watchdog::~Watchdog() {
  eventfd_write(dismissed_, 1);
  thread_.join();
  ::close(dismissed_);
}

bool Watchdog::dismissed_within(std::chrono::milliseconds time) const {
  const auto end = std::chrono::steady_clock::now() + time;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd one{dismissed_, POLLIN, 0};
    if (::poll(&one, 1, static_cast<int>(left.count())) > 0) return true;
  }
}

void Watchdog::watch(int input, const std::atomic<unsigned>& turns,
                     std::chrono::milliseconds timeout) {
  while (true) {
    // Without requested events, poll still reports that the other end is closed.
    std::array<pollfd, 2> both{{{input, 0, 0}, {dismissed_, POLLIN, 0}}};
    if (::poll(both.data(), both.size(), -1) < 0) continue;
    if (both[1].revents != 0) return;
    if (both[0].revents != 0) break;
  }
  while (true) {
    const unsigned before = turns.load();
    if (dismissed_within(timeout)) return;
    if (turns.load() == before) break;
  }
  constexpr std::string_view line =
      "rnic-agent: the client has gone, and a call of the API does not return: ending\n";
  [[maybe_unused]] const ssize_t said = ::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(hung);
}

}  // namespace suite::upper_tester
