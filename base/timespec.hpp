// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A duration as system calls take their limits.
#pragma once

#include <chrono>
#include <ctime>

namespace base {

[[nodiscard]] inline timespec timespec_of(std::chrono::nanoseconds duration) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(duration);
  return {.tv_sec = seconds.count(), .tv_nsec = (duration - seconds).count()};
}

}  // namespace base
