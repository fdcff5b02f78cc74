// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lab/console.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include "suite/lab/channel_protocol.hpp"

namespace suite::lab {
namespace {

constexpr std::size_t held_lines = 20'000;

/// The output of a hostile or broken guest must have no effect on a terminal or in a report.
std::string printable(std::string_view line) {
  std::string text;
  for (const char octet : line) {
    if (octet == '\r') continue;
    const bool control = static_cast<unsigned char>(octet) < 0x20 || octet == 0x7f;
    text.push_back(control && octet != '\t' ? '?' : octet);
  }
  return text;
}

/// UTC with milliseconds, e.g. 2026-11-21T02:15:17.123Z.
std::string time_text(std::chrono::system_clock::time_point at) {
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
  const std::time_t seconds = static_cast<std::time_t>(milliseconds / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     milliseconds % 1000);
}

}  // namespace

Console::Console(std::filesystem::path file) : path_(std::move(file)) {}

Console::~Console() { join(); }

void Console::follow(base::FileDescriptor stream) {
  join();
  if (!path_.empty() && !file_.is_open()) file_.open(path_, std::ios::app);
  reader_ = std::thread([this, stream = std::move(stream)] { read_all(stream); });
}

void Console::join() {
  if (reader_.joinable()) reader_.join();
}

void Console::read_all(const base::FileDescriptor& stream) {
  channel::LineCutter lines;
  const auto take = [this](std::string_view line) { add_line(printable(line)); };
  for (;;) {
    std::array<char, 4096> chunk{};
    const ssize_t count = ::read(stream.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    lines.add({chunk.data(), static_cast<std::size_t>(count)}, take);
  }
  lines.add("\n", [&](std::string_view rest) {
    if (!rest.empty()) take(rest);
  });
}

void Console::add_line(std::string text) {
  const auto now = std::chrono::system_clock::now();
  if (file_.is_open()) file_ << fmt::format("{} {}\n", time_text(now), text) << std::flush;
  const std::lock_guard lock(mutex_);
  lines_.push_back({now, std::move(text)});
  if (lines_.size() > held_lines) {
    lines_.pop_front();
    ++dropped_;
  }
  grown_.notify_all();
}

std::uint64_t Console::position() const {
  const std::lock_guard lock(mutex_);
  return dropped_ + lines_.size();
}

std::vector<ConsoleLine> Console::since(std::uint64_t position) const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t skip =
      std::min<std::uint64_t>(position > dropped_ ? position - dropped_ : 0, lines_.size());
  return {lines_.begin() + static_cast<std::ptrdiff_t>(skip), lines_.end()};
}

bool Console::wait_for(std::string_view words, std::uint64_t position,
                       std::chrono::milliseconds time_limit) const {
  std::unique_lock lock(mutex_);
  std::uint64_t next = position;
  return grown_.wait_for(lock, time_limit, [&] {
    for (next = std::max(next, dropped_); next < dropped_ + lines_.size(); ++next)
      if (lines_[next - dropped_].text.find(words) != std::string::npos) return true;
    return false;
  });
}

}  // namespace suite::lab
