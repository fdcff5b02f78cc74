// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/jobs/run_capture.hpp"

#include <sys/epoll.h>

#include <utility>

namespace suite::jobs {

namespace {

using namespace dissectors::capture;

constexpr auto timeout = std::chrono::seconds(3);  // libpcap delivers within 10 ms on an idle host

}  // namespace

std::expected<std::unique_ptr<RunCapture>, std::string> RunCapture::open(
    base::EpollLoop& loop, const std::string& interface, std::uint64_t nonce, const Keep& keep) {
  auto live = LiveCapture::open(interface);
  if (!live) return std::unexpected(live.error());
  auto sentinel = Sentinel::open(interface, nonce);
  if (!sentinel) return std::unexpected(sentinel.error());
  return std::unique_ptr<RunCapture>(
      new RunCapture(loop, std::move(*live), std::move(*sentinel), keep));
}

RunCapture::RunCapture(base::EpollLoop& loop, LiveCapture live, Sentinel sentinel, const Keep& keep)
    : loop_(loop),
      live_(std::move(live)),
      sentinel_(std::move(sentinel)),
      keep_(keep),
      splitter_(live_.link(), keep.capacity) {
  loop_.watch(live_.fd(), EPOLLIN, [this](std::uint32_t) { poll(); });
}

RunCapture::~RunCapture() {
  if (broken_.empty()) loop_.unwatch(live_.fd());
  for (const auto& [number, waiting] : waiting_) loop_.cancel(waiting.deadline);
}

void RunCapture::when_seen(std::function<void(bool)> callback) {
  const auto number = broken_.empty() ? sentinel_.send() : std::unexpected(broken_);
  if (!number) {
    loop_.defer([callback = std::move(callback)] { callback(false); });
    return;
  }
  const auto deadline = loop_.schedule(loop_.now() + timeout,
                                       [this, number = *number] { seen_up_to(number, false); });
  waiting_.emplace(*number, Waiting{std::move(callback), deadline});
}

void RunCapture::poll() {
  std::uint64_t highest = 0;
  const auto polled = live_.poll([&](Frame frame) {
    if (const auto number = sentinel_.recognise(live_.link(), frame.octets)) {
      highest = std::max(highest, *number);
    } else {
      keep(std::move(frame));
    }
  });
  if (highest > 0) seen_up_to(highest, true);
  if (polled) return;
  broken_ = polled.error();
  loop_.unwatch(live_.fd());
  if (!waiting_.empty()) seen_up_to(waiting_.rbegin()->first, false);
}

void RunCapture::keep(Frame frame) {
  if (keep_.by_connection) return splitter_.add(std::move(frame));
  octets_ += frame.octets.size();
  if (octets_ <= keep_.capacity) {
    frames_.push_back(std::move(frame));
  } else {
    ++given_up_;
  }
}

void RunCapture::seen_up_to(std::uint64_t number, bool complete) {
  while (!waiting_.empty() && waiting_.begin()->first <= number) {
    const Waiting waiting = std::move(waiting_.extract(waiting_.begin()).mapped());
    loop_.cancel(waiting.deadline);
    waiting.callback(complete);
  }
}

}  // namespace suite::jobs
