// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/time_text.hpp"

#include <ctime>

#include <fmt/format.h>

namespace base {

std::string time_text(WallTime when) {
  using namespace std::chrono;
  const auto second = floor<seconds>(when);
  const std::time_t seconds_since_1970 = system_clock::to_time_t(second);
  std::tm utc{};
  gmtime_r(&seconds_since_1970, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     duration_cast<microseconds>(when - second).count());
}

}  // namespace base
