// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a person sees while a run goes on: one live line on a terminal, a line for each verdict
// elsewhere, and how long the rest will take.
#pragma once

#include <chrono>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>

namespace suite::jobs {

class Progress {
 public:
  /// Writes to `stream`; live and in colour only where that is a terminal. It never waits for who
  /// reads it.
  explicit Progress(std::FILE* stream);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// What the expectations say of an attempt.
  enum class News : std::uint8_t { none, known, new_failure, stale };
  struct Ended {
    std::string id;
    std::string_view verdict;
    std::string reason;
    /// It took so long, and was likely to take so long.
    double seconds = 0, planned = 1;
    News news = News::none;
  };

  /// A step of the run as such, e.g. `booting the guest`.
  void tell(const std::string& line);
  void expect_more(std::size_t jobs) { total_ += jobs; }
  void started(const std::string& id);
  /// It is not running any more, and did not end either.
  void returned(const std::string& id);
  /// `bound`: what still waits takes at least so many seconds if each job takes what it is likely
  /// to.
  void ended(const Ended& one, double bound);
  /// Ends the live line.
  void close();

  /// Seconds that the rest will take, judging by what has ended.
  [[nodiscard]] double remaining(double bound) const {
    return planned_ > 0 ? bound * taken_ / planned_ : bound;
  }

 private:
  void write_line(const std::string& line);
  void draw();
  void erase();
  [[nodiscard]] std::string live_line() const;
  [[nodiscard]] std::string coloured(const std::string& text, const char* colour) const;

  std::FILE* stream_;
  bool live_, colour_, drawn_ = false;
  /// Lines that nobody took.
  std::size_t left_out_ = 0;
  std::size_t total_ = 0, done_ = 0, new_failures_ = 0, known_ = 0;
  double planned_ = 0, taken_ = 0, bound_ = 0;
  std::set<std::string> running_;
  std::chrono::steady_clock::time_point last_drawn_{};
};

/// Text from an IUT as one line that does nothing to a terminal, cut if it is longer.
[[nodiscard]] std::string for_terminal(std::string_view text, std::size_t longest = 400);

/// `0:07`, `12:40`, `1:02:03`.
[[nodiscard]] std::string clock_text(double seconds);

}  // namespace suite::jobs
