// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What an organiser sees while a run goes on: a line for each cell that ended, and how long the
// rest will take.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "plugfest/verdict.hpp"

namespace plugfest {

class Progress {
 public:
  Progress(std::FILE* out, std::size_t total) : out_(out), total_(total) {}

  /// So many more are to be played.
  void add(std::size_t cells) { total_ += cells; }

  /// `planned` of what ended and `bound` of what waits are in seconds by estimate.
  void ended(const std::string& cell, Verdict verdict, const std::string& reason, double seconds,
             double planned, double bound);
  /// Seconds that the rest will take, by what has been seen so far.
  [[nodiscard]] double remaining(double bound) const;

 private:
  std::FILE* out_;
  std::size_t total_, done_ = 0;
  double planned_ = 0, taken_ = 0;
};

/// What an agent or a file has said, as one line that does nothing to a terminal.
[[nodiscard]] std::string for_terminal(std::string_view text);

/// `0:07`, `12:40`, `1:02:03`.
[[nodiscard]] std::string clock_text(double seconds);

}  // namespace plugfest
