// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/iut/tls/stream_relay.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

namespace suite::iut::tls {
namespace {

/// Octets that may wait in one direction before its source is read no further.
constexpr std::size_t most_waiting = std::size_t{64} * 1024;
/// A pipe or socket that polls writable takes this much without blocking.
constexpr std::size_t portion = 4096;
constexpr std::size_t header = 5;
constexpr int octet_bits = 8;

int milliseconds_until(std::optional<Clock::time_point> deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

}  // namespace

void StreamRelay::send_from(int source, Frame type, bool tell_end) {
  sources_.push_back({source, type, tell_end});
}

void StreamRelay::write_to(int target, Frame type, std::function<void()> ended) {
  Target made{};
  made.fd = target;
  made.ended = std::move(ended);
  targets_.emplace(type, std::move(made));
}

void StreamRelay::send(Frame type, std::string_view content) {
  outgoing_ += static_cast<char>(type);
  for (int shift = 3 * octet_bits; shift >= 0; shift -= octet_bits)
    outgoing_ += static_cast<char>(content.size() >> shift & 0xFF);
  outgoing_ += content;
}

// ---------------------------------------------------------------- the local side

void StreamRelay::read_source(Source& source) {
  std::array<char, longest_frame> octets{};
  const ssize_t count = ::read(source.fd, octets.data(), octets.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count > 0) return send(source.type, {octets.data(), static_cast<std::size_t>(count)});
  source.open = false;
  if (source.tell_end) send(source.type, {});
}

void StreamRelay::write_target(Target& target) {
  const ssize_t count =
      ::write(target.fd, target.waiting.data(), std::min(portion, target.waiting.size()));
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count < 0) return close_target(target);
  target.waiting.erase(0, static_cast<std::size_t>(count));
  if (target.waiting.empty() && target.ending) close_target(target);
}

void StreamRelay::close_target(Target& target) {
  target.open = false;
  target.waiting.clear();
  if (target.ended) target.ended();
}

// ---------------------------------------------------------------- the channel

void StreamRelay::lose(const std::string& why) {
  lost_ = true;
  fault_ = why;
  outgoing_.clear();
}

void StreamRelay::write_channel() {
  using Step = TlsChannel::Step;
  write_waits_ = 0;
  while (!outgoing_.empty()) {
    std::size_t count = 0;
    const Step step = channel_.write(outgoing_.data(), outgoing_.size(), count);
    if (step == Step::failed || step == Step::closed) return lose(channel_.fault());
    if (step == Step::waits) {
      write_waits_ = channel_.events();
      return;
    }
    outgoing_.erase(0, count);
  }
}

void StreamRelay::read_channel() {
  using Step = TlsChannel::Step;
  read_waits_ = 0;
  std::array<char, longest_frame> octets{};
  std::size_t count = 0;
  const Step step = channel_.read(octets.data(), octets.size(), count);
  if (step == Step::done) {
    incoming_.append(octets.data(), count);
  } else if (step == Step::waits) {
    read_waits_ = channel_.events();
  } else {
    lose(step == Step::closed ? "the other end has ended the connection" : channel_.fault());
  }
}

/// The next whole frame, if one has come.
std::optional<StreamRelay::Arrived> StreamRelay::next_frame() {
  if (incoming_.size() < header) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t at = 1; at < header; ++at)
    length = length << octet_bits | static_cast<unsigned char>(incoming_[at]);
  if (length > longest_frame) {
    lose("the other end sends a frame of " + std::to_string(length) + " octets");
    return std::nullopt;
  }
  if (incoming_.size() < header + length) return std::nullopt;
  Arrived frame{static_cast<Frame>(incoming_.front()), incoming_.substr(header, length)};
  incoming_.erase(0, header + length);
  return frame;
}

bool StreamRelay::take_frames() {
  while (auto frame = next_frame()) {
    const auto found = targets_.find(frame->type);
    if (found == targets_.end()) {
      arrived_ = std::move(*frame);
      return true;
    }
    Target& target = found->second;
    if (!target.open) continue;
    target.waiting += frame->content;
    target.ending = target.ending || frame->content.empty();
    if (target.waiting.empty()) close_target(target);
  }
  return false;
}

// ---------------------------------------------------------------- the loop

struct StreamRelay::Wanted {
  std::vector<pollfd> all;
  std::vector<std::size_t> sources;  ///< those among `all`, after the event and the channel
  std::vector<Frame> targets;        ///< those after them
  bool reads = false;                ///< from the channel
};

StreamRelay::Wanted StreamRelay::wanted(int event) const {
  Wanted made;
  made.reads = !lost_ && incoming_.size() < header + longest_frame;
  for (const auto& [type, target] : targets_)
    made.reads = made.reads && target.waiting.size() < most_waiting;
  short of_channel = 0;
  if (made.reads) of_channel = read_waits_ != 0 ? read_waits_ : POLLIN;
  if (!outgoing_.empty()) of_channel |= write_waits_ != 0 ? write_waits_ : POLLOUT;
  made.all = {{event, POLLIN, 0}, {of_channel != 0 ? channel_.socket() : -1, of_channel, 0}};
  for (std::size_t at = 0; at < sources_.size(); ++at)
    if (sources_[at].open && !lost_ && outgoing_.size() < most_waiting) {
      made.sources.push_back(at);
      made.all.push_back({sources_[at].fd, POLLIN, 0});
    }
  for (const auto& [type, target] : targets_)
    if (target.open && !target.waiting.empty()) {
      made.targets.push_back(type);
      made.all.push_back({target.fd, POLLOUT, 0});
    }
  return made;
}

std::optional<StreamRelay::Why> StreamRelay::turn(int event,
                                                  std::optional<Clock::time_point> deadline) {
  Wanted now = wanted(event);
  const bool more = now.reads && channel_.holds_octets() && read_waits_ == 0;
  const int ready = ::poll(now.all.data(), now.all.size(), more ? 0 : milliseconds_until(deadline));
  if (ready == 0 && !more) return Why::too_late;
  if (ready < 0) return std::nullopt;
  std::size_t at = 2;
  for (const std::size_t source : now.sources)
    if (now.all[at++].revents != 0) read_source(sources_[source]);
  for (const Frame target : now.targets)
    if (now.all[at++].revents != 0) write_target(targets_.at(target));
  const bool channel_is_ready = now.all[1].revents != 0;
  const bool reads = now.reads && (channel_is_ready || more);
  if (reads) read_channel();
  // To a peer that has gone nothing can be written, but its last words can be read: they come first.
  const bool has_read_all = !reads || read_waits_ != 0;
  if (!lost_ && channel_is_ready && has_read_all && !outgoing_.empty()) write_channel();
  return now.all[0].revents != 0 ? std::optional(Why::event) : std::nullopt;
}

StreamRelay::Why StreamRelay::run(int event, std::optional<Clock::time_point> deadline) {
  for (;;) {
    if (!lost_ && take_frames()) return Why::frame;
    if (lost_) return Why::lost;
    if (const auto why = turn(event, deadline)) return *why;
  }
}

void StreamRelay::finish_sources() {
  for (Source& source : sources_) {
    pollfd ready{source.fd, POLLIN, 0};
    while (source.open && outgoing_.size() < most_waiting && ::poll(&ready, 1, 0) > 0)
      read_source(source);
    source.open = false;
  }
}

bool StreamRelay::flush(Clock::time_point deadline) {
  const auto waits = [this] {
    return !outgoing_.empty() ||
           std::any_of(targets_.begin(), targets_.end(), [](const auto& each) {
             return each.second.open && !each.second.waiting.empty();
           });
  };
  while (waits())
    if (turn(-1, deadline) == Why::too_late) break;
  return !lost_ && !waits();
}

// ---------------------------------------------------------------- exit statuses

std::string shell_status(const base::ExitStatus& status) {
  constexpr int of_a_signal = 128;
  return std::to_string(status.signal != 0 ? of_a_signal + status.signal : status.code);
}

std::optional<int> parse_shell_status(std::string_view content) {
  constexpr int largest = 255;
  const bool digits = !content.empty() && content.size() <= 3 &&
                      std::all_of(content.begin(), content.end(),
                                  [](char each) { return each >= '0' && each <= '9'; });
  if (!digits) return std::nullopt;
  const int status = std::stoi(std::string(content));
  return status <= largest ? std::optional(status) : std::nullopt;
}

}  // namespace suite::iut::tls
