// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a person sees while a run continues: one live line on a terminal, a line for each verdict
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
  /// Writes to `stream`; live and in colour only if that is a terminal. It never waits for its
  /// reader.
  explicit Progress(std::FILE* stream);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// What the expectations say about an attempt.
  enum class Note : std::uint8_t { none, known, new_failure, stale };
  struct Ended {
    std::string id;
    std::string_view verdict;
    std::string reason;
    /// Its duration, and its likely duration.
    double seconds = 0, planned = 1;
    Note note = Note::none;
  };

  /// A step of the run itself, e.g. `booting the guest`.
  void tell(const std::string& line);
  void expect_more(std::size_t jobs) { total_ += jobs; }
  void started(const std::string& id);
  /// It is no longer running, but has not ended either.
  void returned(const std::string& id);
  /// `bound`: the waiting jobs take at least this many seconds if each has its likely duration.
  void ended(const Ended& one, double bound);
  /// Ends the live line.
  void close();

  /// The seconds that the rest will take, estimated from what has ended.
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
  /// Lines that could not be written.
  std::size_t left_out_ = 0;
  std::size_t total_ = 0, done_ = 0, new_failures_ = 0, known_ = 0;
  double planned_ = 0, taken_ = 0, bound_ = 0;
  std::set<std::string> running_;
  std::chrono::steady_clock::time_point last_drawn_{};
};

/// Text from an IUT as one line without control characters for the terminal, cut if it is longer.
[[nodiscard]] std::string for_terminal(std::string_view text, std::size_t longest = 400);

/// `0:07`, `12:40`, `1:02:03`.
[[nodiscard]] std::string clock_text(double seconds);

}  // namespace suite::jobs
