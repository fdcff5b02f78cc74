// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lab/guest_kernel_log.hpp"

#include <algorithm>

#include "suite/lab/kernel_log.hpp"

namespace suite::lab {

namespace {

constexpr auto dying_time = std::chrono::seconds(3);

}  // namespace

void GuestKernelLog::begin() {
  position_ = guest_.log_position();
  death_told_ = false;
}

void GuestKernelLog::read(std::string& log) {
  log += guest_.log_since(position_);
  position_ = guest_.log_position();
}

GuestKernelLog::Look GuestKernelLog::look() {
  Look seen;
  seen.answers = guest_.flush_log();
  read(seen.log);
  const auto faults = find_kernel_faults(seen.log);
  const bool dead = (tells_of_crash(seen.log) && guest_.dies_within(dying_time)) || !guest_.alive();
  if (dead) read(seen.log);
  if (!faults.empty())
    seen.complaint = kernel_log_excerpt(seen.log, faults.front().offset);
  else if (dead && !death_told_)
    seen.complaint = "the guest died: " + guest_.obituary();
  death_told_ = death_told_ || dead;
  return seen;
}

}  // namespace suite::lab
