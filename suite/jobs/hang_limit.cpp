// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/jobs/hang_limit.hpp"

#include <algorithm>
#include <utility>

namespace suite::jobs {

HangLimit::HangLimit(base::EpollLoop& loop, std::function<void()> hung)
    : loop_(loop), hung_(std::move(hung)) {}

void HangLimit::set(std::chrono::nanoseconds silence, std::chrono::nanoseconds total) {
  silence_ = silence;
  latest_end_ = loop_.now() + total;
  schedule();
}

void HangLimit::alive() {
  if (timer_) schedule();
}

void HangLimit::lift() {
  if (timer_) loop_.cancel(*timer_);
  timer_.reset();
}

void HangLimit::schedule() {
  lift();
  timer_ = loop_.schedule(std::min(loop_.now() + silence_, latest_end_), [this] {
    timer_.reset();
    hung_();
  });
}

}  // namespace suite::jobs
