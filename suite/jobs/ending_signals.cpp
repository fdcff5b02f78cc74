// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/jobs/ending_signals.hpp"

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <utility>

namespace suite::jobs {

EndingSignals::EndingSignals(base::EpollLoop& loop, std::function<void(int)> callback)
    : loop_(loop) {
  sigemptyset(&set_);
  for (const int signal : {SIGINT, SIGTERM}) sigaddset(&set_, signal);
  sigprocmask(SIG_BLOCK, &set_, &before_);
  fd_ = base::FileDescriptor(::signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK));
  loop_.watch(fd_.get(), EPOLLIN, [this, callback = std::move(callback)](std::uint32_t) {
    signalfd_siginfo info{};
    if (::read(fd_.get(), &info, sizeof info) == sizeof info)
      callback(static_cast<int>(info.ssi_signo));
  });
}

EndingSignals::~EndingSignals() {
  loop_.unwatch(fd_.get());
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace suite::jobs
