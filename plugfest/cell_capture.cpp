// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/cell_capture.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "suite/lab/namespaces.hpp"

namespace plugfest {

namespace {

using namespace dissectors::capture;

constexpr std::chrono::seconds step_timeout{3};  // libpcap delivers within 10 ms on an idle host

}  // namespace

std::expected<std::unique_ptr<CellCapture>, std::string> CellCapture::open(
    base::EpollLoop& loop, int network_namespace, const std::string& interface,
    std::size_t most_octets) {
  std::optional<LiveCapture> live;
  std::optional<Sentinel> sentinel;
  const auto make = [&]() -> std::expected<void, std::string> {
    auto opened = LiveCapture::open(interface);
    if (!opened) return std::unexpected(opened.error());
    auto made = Sentinel::open(interface, std::random_device{}());
    if (!made) return std::unexpected(made.error());
    live.emplace(std::move(*opened));
    sentinel.emplace(std::move(*made));
    return {};
  };
  const auto done =
      network_namespace < 0 ? make() : suite::lab::in_network_namespace(network_namespace, make);
  if (!done) return std::unexpected(done.error());
  return std::unique_ptr<CellCapture>(
      new CellCapture(loop, std::move(*live), std::move(*sentinel), most_octets));
}

CellCapture::CellCapture(base::EpollLoop& loop, LiveCapture live, Sentinel sentinel,
                         std::size_t most_octets)
    : loop_(loop),
      live_(std::move(live)),
      sentinel_(std::move(sentinel)),
      most_octets_(most_octets) {
  loop_.watch(live_.fd(), EPOLLIN, [this](std::uint32_t) { poll(); });
}

CellCapture::~CellCapture() { loop_.unwatch(live_.fd()); }

void CellCapture::poll() {
  const auto polled = live_.poll([&](Frame frame) {
    if (const auto number = sentinel_.recognise(live_.link(), frame.octets)) {
      seen_ = std::max(seen_, *number);
      return;
    }
    octets_ += frame.octets.size();
    if (octets_ <= most_octets_)
      frames_.push_back(std::move(frame));
    else
      trouble_ = fmt::format("more than {} MiB passed", most_octets_ >> 20U);
  });
  if (polled) return;
  trouble_ = polled.error();
  loop_.unwatch(live_.fd());
}

void CellCapture::finish() {
  const auto number = sentinel_.send();
  if (!number) {
    trouble_ = number.error();
    return;
  }
  if (!loop_.run_until(loop_.now() + step_timeout, [&] { return seen_ >= *number; }) &&
      trouble_.empty())
    trouble_ = "the last frames did not arrive in time";
  if (dropped() > 0 && trouble_.empty())
    trouble_ = fmt::format("the kernel dropped {} frames of the capture", dropped());
}

std::uint64_t CellCapture::dropped() const {
  const CaptureCounts counts = live_.counts();
  return counts.dropped + counts.interface_dropped;
}

}  // namespace plugfest
