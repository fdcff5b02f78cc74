// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The run's one live capture, from which each case's frames
// are cut as soon as all that it sent has been seen.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/epoll_loop.hpp"
#include "dissectors/capture/live_capture.hpp"
#include "dissectors/capture/splitter.hpp"

namespace suite::runner {

class RunCapture {
 public:
  /// Captures on `interface` in the calling thread's network namespace. The error is one line.
  [[nodiscard]] static std::expected<std::unique_ptr<RunCapture>, std::string> open(
      base::EpollLoop& loop, const std::string& interface, std::uint64_t nonce);
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
  /// No case that began earlier is still to be cut out.
  void forget_before(std::uint64_t time) { splitter_.forget_before(time); }

  [[nodiscard]] dissectors::capture::LinkType link() const { return live_.link(); }
  [[nodiscard]] dissectors::capture::CaptureCounts counts() const { return live_.counts(); }
  [[nodiscard]] std::uint64_t given_up() const { return splitter_.given_up(); }
  /// Why the capture ended before its time; empty while it runs.
  [[nodiscard]] const std::string& broken() const { return broken_; }

 private:
  struct Waiting {
    std::function<void(bool)> callback;
    base::TimerId deadline;
  };
  RunCapture(base::EpollLoop& loop, dissectors::capture::LiveCapture live,
             dissectors::capture::Sentinel sentinel);
  void poll();
  void seen_up_to(std::uint64_t number, bool complete);

  base::EpollLoop& loop_;
  dissectors::capture::LiveCapture live_;
  dissectors::capture::Sentinel sentinel_;
  dissectors::capture::Splitter splitter_;
  std::map<std::uint64_t, Waiting> waiting_;  ///< by sentinel number
  std::string broken_;
};

}  // namespace suite::runner
