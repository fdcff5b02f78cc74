// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A live capture, from which the frames of a case are cut by connection, or all those of a cell
// taken, as soon as all that passed so far has been seen.
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
  /// Which frames wait until they are taken, and so many octets of them at most.
  struct Keep {
    /// TCP by connection, of which the oldest frames are given up where there are too many; or every
    /// frame, of which the latest are.
    bool by_connection = true;
    std::size_t capacity = std::size_t{512} << 20;
  };

  /// Captures on `interface` in the calling thread's network namespace. The error is one line.
  [[nodiscard]] static std::expected<std::unique_ptr<RunCapture>, std::string> open(
      base::EpollLoop& loop, const std::string& interface, std::uint64_t nonce, const Keep& keep);
  ~RunCapture();
  RunCapture(const RunCapture&) = delete;
  RunCapture& operator=(const RunCapture&) = delete;

  /// Calls back once every frame that passed before now has been seen (true), or when that did not
  /// happen in time (false).
  void when_seen(std::function<void(bool)> callback);
  [[nodiscard]] std::vector<dissectors::capture::Frame> take(
      std::span<const dissectors::capture::Flow> connections, std::uint64_t since) {
    return splitter_.take(connections, since);
  }
  [[nodiscard]] std::vector<dissectors::capture::Frame> take_all(std::uint64_t since) {
    return splitter_.take_all(since);
  }
  /// Where every frame is kept: those that passed so far, in their order.
  [[nodiscard]] std::vector<dissectors::capture::Frame> take_every_frame() {
    return std::exchange(frames_, {});
  }
  /// No case that began earlier is still to be cut out.
  void forget_before(std::uint64_t time) { splitter_.forget_before(time); }

  [[nodiscard]] dissectors::capture::LinkType link() const { return live_.link(); }
  [[nodiscard]] dissectors::capture::CaptureCounts counts() const { return live_.counts(); }
  /// Frames that were given up for want of memory.
  [[nodiscard]] std::uint64_t given_up() const { return splitter_.given_up() + given_up_; }
  /// Why the capture ended before its time; empty while it runs.
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
