// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A live capture, from which the frames of a case are cut by connection, or all frames of a cell
// are taken, as soon as everything sent so far has been captured.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/epoll_loop.hpp"
#include "dissectors/capture/live_capture.hpp"
#include "dissectors/capture/splitter.hpp"

namespace suite::jobs {

class RunCapture {
 public:
  /// Which frames are kept until they are taken, and the most octets of them.
  struct Keep {
    /// TCP frames by connection, of which the oldest are dropped if there are too many; or every
    /// frame, of which the latest are dropped.
    bool by_connection = true;
    std::size_t capacity = std::size_t{512} << 20;
  };

  /// Captures on `interface` in the calling thread's network namespace. The error is one line.
  [[nodiscard]] static std::expected<std::unique_ptr<RunCapture>, std::string> open(
      base::EpollLoop& loop, const std::string& interface, std::uint64_t nonce, const Keep& keep);
  ~RunCapture();
  RunCapture(const RunCapture&) = delete;
  RunCapture& operator=(const RunCapture&) = delete;

  /// Calls back once every frame sent before this call has been captured (true), or when that did
  /// not happen in time (false).
  void when_seen(std::function<void(bool)> callback);
  [[nodiscard]] std::vector<dissectors::capture::Frame> take(
      std::span<const dissectors::capture::Flow> connections, std::uint64_t since) {
    return splitter_.take(connections, since);
  }
  [[nodiscard]] std::vector<dissectors::capture::Frame> take_all(std::uint64_t since) {
    return splitter_.take_all(since);
  }
  /// If every frame is kept: the frames so far, in their order.
  [[nodiscard]] std::vector<dissectors::capture::Frame> take_every_frame() {
    return std::exchange(frames_, {});
  }
  /// All cases that began earlier have been cut out.
  void forget_before(std::uint64_t time) { splitter_.forget_before(time); }

  [[nodiscard]] dissectors::capture::LinkType link() const { return live_.link(); }
  [[nodiscard]] dissectors::capture::CaptureCounts counts() const { return live_.counts(); }
  /// Frames that were dropped for lack of memory.
  [[nodiscard]] std::uint64_t given_up() const { return splitter_.given_up() + given_up_; }
  /// Why the capture ended too early; empty while it runs.
  [[nodiscard]] const std::string& broken() const { return broken_; }

 private:
  struct Waiting {
    std::function<void(bool)> callback;
    base::TimerId deadline;
  };
  RunCapture(base::EpollLoop& loop, dissectors::capture::LiveCapture live,
             dissectors::capture::Sentinel sentinel, const Keep& keep);
  void keep(dissectors::capture::Frame frame);
  void poll();
  void seen_up_to(std::uint64_t number, bool complete);

  base::EpollLoop& loop_;
  dissectors::capture::LiveCapture live_;
  dissectors::capture::Sentinel sentinel_;
  Keep keep_;
  dissectors::capture::Splitter splitter_;
  std::vector<dissectors::capture::Frame> frames_;
  std::size_t octets_ = 0;
  std::uint64_t given_up_ = 0;
  /// By the sentinel's number.
  std::map<std::uint64_t, Waiting> waiting_;
  std::string broken_;
};

}  // namespace suite::jobs
