// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/cell_capture.hpp"

#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "suite/lab/namespaces.hpp"

namespace plugfest {

using suite::jobs::RunCapture;

std::expected<std::unique_ptr<RunCapture>, std::string> open_capture(
    base::EpollLoop& loop, const std::string& network_namespace, const std::string& interface,
    std::size_t most_octets) {
  std::unique_ptr<RunCapture> capture;
  const auto make = [&]() -> std::expected<void, std::string> {
    auto opened = RunCapture::open(loop, interface, std::random_device{}(),
                                   {.by_connection = false, .capacity = most_octets});
    if (!opened) return std::unexpected(opened.error());
    capture = std::move(*opened);
    return {};
  };
  if (const auto done = suite::lab::in_network_namespace(network_namespace, make); !done)
    return std::unexpected(done.error());
  return capture;
}

std::string finish_capture(base::EpollLoop& loop, RunCapture& capture) {
  std::optional<bool> seen;
  capture.when_seen([&seen](bool all) { seen = all; });
  loop.run_until(base::TimePoint::max(), [&seen] { return seen.has_value(); });
  if (!capture.broken().empty()) return capture.broken();
  if (capture.given_up() > 0)
    return fmt::format("{} frames were given up for want of memory", capture.given_up());
  if (!*seen) return "the last frames did not arrive in time";
  if (const auto dropped = dropped_frames(capture); dropped > 0)
    return fmt::format("the kernel dropped {} frames of the capture", dropped);
  return "";
}

std::uint64_t dropped_frames(const RunCapture& capture) {
  const auto counts = capture.counts();
  return counts.dropped + counts.interface_dropped;
}

}  // namespace plugfest
