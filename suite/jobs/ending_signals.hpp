// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// SIGINT and SIGTERM as an event of the event loop, as long as the object lives.
#pragma once

#include <csignal>
#include <functional>

#include "base/epoll_loop.hpp"
#include "base/file_descriptor.hpp"

namespace suite::jobs {

class EndingSignals {
 public:
  /// `callback` gets the signal's number.
  EndingSignals(base::EpollLoop& loop, std::function<void(int)> callback);
  ~EndingSignals();
  EndingSignals(const EndingSignals&) = delete;
  EndingSignals& operator=(const EndingSignals&) = delete;

 private:
  base::EpollLoop& loop_;
  base::FileDescriptor fd_;
  sigset_t set_{}, before_{};
};

}  // namespace suite::jobs
