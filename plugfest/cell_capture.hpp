// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The capture of one cell: everything that passes one interface while the cell is played.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "base/epoll_loop.hpp"
#include "dissectors/capture/live_capture.hpp"

namespace plugfest {

class CellCapture {
 public:
  static constexpr std::size_t usual_octets = std::size_t{512} << 20;

  /// Captures on `interface` in that network namespace (-1: ours), so many octets at most. The error
  /// is one line.
  [[nodiscard]] static std::expected<std::unique_ptr<CellCapture>, std::string> open(
      base::EpollLoop& loop, int network_namespace, const std::string& interface,
      std::size_t most_octets = usual_octets);
  ~CellCapture();
  CellCapture(const CellCapture&) = delete;
  CellCapture& operator=(const CellCapture&) = delete;

  /// Waits until all that passed so far is here.
  void finish();
  [[nodiscard]] const std::vector<dissectors::capture::Frame>& frames() const { return frames_; }
  [[nodiscard]] dissectors::capture::LinkType link() const { return live_.link(); }
  [[nodiscard]] std::uint64_t dropped() const;
  /// What is missing of it, and why; empty: nothing.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  CellCapture(base::EpollLoop& loop, dissectors::capture::LiveCapture live,
              dissectors::capture::Sentinel sentinel, std::size_t most_octets);
  void poll();

  base::EpollLoop& loop_;
  dissectors::capture::LiveCapture live_;
  dissectors::capture::Sentinel sentinel_;
  std::vector<dissectors::capture::Frame> frames_;
  std::size_t octets_ = 0, most_octets_;
  std::uint64_t seen_ = 0;  ///< the highest sentinel
  std::string trouble_;
};

}  // namespace plugfest
