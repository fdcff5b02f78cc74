// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Points of time as text: UTC, RFC 3339, microseconds.
#pragma once

#include <chrono>
#include <string>

namespace base {

using WallTime = std::chrono::system_clock::time_point;

[[nodiscard]] std::string time_text(WallTime when);

}  // namespace base
