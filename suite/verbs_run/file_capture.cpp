// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/verbs_run/file_capture.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "dissectors/capture/pcapng_writer.hpp"

namespace suite::verbs_run {

namespace {

using namespace dissectors::capture;
using namespace std::chrono_literals;

constexpr auto longest_delivery = 3s;  ///< libpcap delivers within 10 ms on an idle host
/// The file says what it is.
constexpr const char* comment =
    "captured from the interface while rnic-run ran a program on the reference RNIC";

bool put(std::FILE* file, const std::vector<std::byte>& octets) {
  return std::fwrite(octets.data(), 1, octets.size(), file) == octets.size();
}

}  // namespace

std::expected<FileCapture, std::string> FileCapture::open(const std::string& interface,
                                                          const std::string& path) {
  auto live = LiveCapture::open(interface);
  if (!live) return std::unexpected(live.error());
  auto sentinel = Sentinel::open(interface, static_cast<std::uint64_t>(getpid()));
  if (!sentinel) return std::unexpected(sentinel.error());
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wbe"));
  if (!file || !put(file.get(), pcapng_header(live->link(), "rnic-run", comment)))
    return std::unexpected(path + " cannot be written: " + std::strerror(errno));
  return FileCapture(std::move(*live), std::move(*sentinel), std::move(file));
}

std::expected<void, std::string> FileCapture::poll() {
  bool written = true;
  const auto polled = live_.poll([&](const Frame& frame) {
    if (const auto number = sentinel_.recognise(live_.link(), frame.octets)) {
      seen_ = std::max(seen_, *number);
      return;
    }
    std::vector<std::byte> block;
    append_pcapng_frame(block, {frame.time, frame.original_length, frame.octets}, {});
    written = put(file_.get(), block) && written;
  });
  if (!polled) return polled;
  if (!written)
    return std::unexpected("the capture cannot be written: " + std::string(std::strerror(errno)));
  return {};
}

std::expected<void, std::string> FileCapture::finish() {
  const auto last = sentinel_.send();
  if (!last) return std::unexpected(last.error());
  const auto deadline = std::chrono::steady_clock::now() + longest_delivery;
  while (seen_ < *last) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd watched{live_.fd(), POLLIN, 0};
    if (left <= 0ms || ::poll(&watched, 1, static_cast<int>(left.count())) < 0)
      return std::unexpected("the end of the capture has not come; the file is not complete");
    if (const auto polled = poll(); !polled) return polled;
  }
  if (std::fflush(file_.get()) != 0)
    return std::unexpected("the capture cannot be written: " + std::string(std::strerror(errno)));
  if (live_.counts().dropped > 0)
    return std::unexpected("the capture has lost frames; the file is not complete");
  return {};
}

}  // namespace suite::verbs_run
