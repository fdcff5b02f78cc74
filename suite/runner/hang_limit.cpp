// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/hang_limit.hpp"

#include <algorithm>
#include <utility>

namespace suite::runner {

namespace {

// Beyond twice a case's deadline: for its reset, which has a timeout of its own, and its report.
constexpr auto grace = std::chrono::seconds(14);

}  // namespace

std::chrono::nanoseconds tolerated_silence(const cases::Case& one, double deadline_scale) {
  const auto twice = one.deadline * (2 * deadline_scale);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(twice) + grace;
}

HangLimit::HangLimit(base::EpollLoop& loop, std::function<void()> hung)
    : loop_(loop), hung_(std::move(hung)) {}

void HangLimit::set(std::chrono::nanoseconds silence, std::chrono::nanoseconds total) {
  silence_ = silence;
  latest_end_ = loop_.now() + total;
  schedule();
}

void HangLimit::alive() {
  if (!passed_) schedule();
}

void HangLimit::lift() {
  if (timer_) loop_.cancel(*timer_);
  timer_.reset();
}

void HangLimit::schedule() {
  lift();
  timer_ = loop_.schedule(std::min(loop_.now() + silence_, latest_end_), [this] {
    timer_.reset();
    passed_ = true;
    hung_();
  });
}

}  // namespace suite::runner
