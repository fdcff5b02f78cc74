// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The capture of one cell at one place: everything that passes one interface while the cell is
// played, here or on another host (`rnic-plugfest capture` there).
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "base/epoll_loop.hpp"
#include "dissectors/capture/frame.hpp"
#include "plugfest/capture_place.hpp"
#include "suite/jobs/exit_code.hpp"

namespace plugfest {

inline constexpr std::size_t usual_capture = std::size_t{512} << 20;

/// What a place has captured.
struct Captured {
  std::string place;
  dissectors::capture::LinkType link = dissectors::capture::LinkType::ethernet;
  std::vector<dissectors::capture::Frame> frames;
  std::uint64_t dropped = 0;  ///< by the kernel or the interface
  std::string trouble;        ///< what is missing of it, and why; empty: nothing
};

class CapturePoint {
 public:
  virtual ~CapturePoint() = default;
  /// Whether it captures by now, or never will.
  [[nodiscard]] virtual bool is_open() const = 0;
  /// Why it will not, or has stopped; empty while it captures.
  [[nodiscard]] virtual const std::string& fault() const = 0;
  /// All that passed so far is to be captured, and no more.
  virtual void finish() = 0;
  [[nodiscard]] virtual bool is_finished() const = 0;
  /// Once it is finished.
  [[nodiscard]] virtual Captured take() = 0;
};

/// The captures of one cell, in the order of their places.
class CellCapture {
 public:
  /// Captures at each of these places, so many octets at most, from when this returns.
  CellCapture(base::EpollLoop& loop, const std::vector<CapturePlace>& places,
              std::size_t most_octets = usual_capture);
  /// Why nothing is captured at any place; empty if something is.
  [[nodiscard]] std::string fault() const;
  /// Waits until all that passed so far has been captured, at each place.
  [[nodiscard]] std::vector<Captured> finish();

 private:
  base::EpollLoop& loop_;
  std::vector<std::unique_ptr<CapturePoint>> points_;
};

/// `rnic-plugfest capture`: captures an interface for a run on another host, until standard input
/// ends.
[[nodiscard]] suite::jobs::ExitCode serve_capture(const std::string& interface);

}  // namespace plugfest
