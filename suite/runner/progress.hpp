// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a person sees while a run goes on: one live line on a terminal,
// a line for each verdict elsewhere.
#pragma once

#include <chrono>
#include <cstdio>
#include <set>
#include <string>

#include "suite/results/record.hpp"

namespace suite::runner {

class Progress {
 public:
  /// Writes to `stream`; live and in colour only where that is a terminal. It never waits for who
  /// reads it.
  explicit Progress(std::FILE* stream);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A step of the run as such, e.g. `booting the guest`.
  void tell(const std::string& line);
  void expect_more(std::size_t cases) { total_ += cases; }
  void started(const std::string& id);
  /// It is not running any more, and did not end either.
  void returned(const std::string& id);
  void ended(const results::CaseRecord& record);
  /// Ends the live line.
  void close();

 private:
  void write_line(const std::string& line);
  void draw();
  void erase();
  [[nodiscard]] std::string live_line() const;
  [[nodiscard]] std::string coloured(const std::string& text, const char* colour) const;

  std::FILE* stream_;
  bool live_, colour_, drawn_ = false;
  std::size_t left_out_ = 0;  ///< lines that nobody took
  std::size_t total_ = 0, done_ = 0, new_failures_ = 0, known_ = 0;
  std::set<std::string> running_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now(), last_drawn_{};
};

/// Everything about one failure that a person needs, in some lines: rule and section, what was
/// admissible, what came, where in which pcap, and the command that runs just this case again.
[[nodiscard]] std::string failure_text(const results::CaseRecord& record,
                                       const std::string& folder);
/// The run in one or two lines.
[[nodiscard]] std::string summary_text(const results::Document& document);

}  // namespace suite::runner
