// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The capture of one cell: everything that passes one interface while the cell is played.
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <string>

#include "suite/jobs/run_capture.hpp"

namespace plugfest {

inline constexpr std::size_t usual_capture = std::size_t{512} << 20;

/// Captures on `interface` in the network namespace at this path (empty: ours), so many octets at
/// most. The error is one line.
[[nodiscard]] std::expected<std::unique_ptr<suite::jobs::RunCapture>, std::string> open_capture(
    base::EpollLoop& loop, const std::string& network_namespace, const std::string& interface,
    std::size_t most_octets = usual_capture);

/// Waits until all that passed so far has been captured. What is missing of it, and why; empty:
/// nothing.
[[nodiscard]] std::string finish_capture(base::EpollLoop& loop, suite::jobs::RunCapture& capture);

/// Frames that the kernel or the interface dropped.
[[nodiscard]] std::uint64_t dropped_frames(const suite::jobs::RunCapture& capture);

}  // namespace plugfest
