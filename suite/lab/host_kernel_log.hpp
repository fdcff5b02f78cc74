// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The kernel's log of another host, followed through a command that prints it as it is written: what
// the kernel complains of between one look and the next.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.hpp"
#include "base/process.hpp"

namespace suite::lab {

/// A line of shell that first writes `mark` to the kernel's log of the host that runs it, then prints
/// /dev/kmsg until its standard input ends. What is older than the mark is printed too.
[[nodiscard]] std::string follow_kernel_log(std::string_view mark);

/// Cuts the lines of a log into what is new and what was there before. Records of /dev/kmsg
/// (`6,1234,5678900,-;text`) are new from the mark on, or, when the log is opened again, from the last
/// one that was seen, if the host still has that one. Lines of any other form are always new: they
/// come from a console or over UDP.
class KernelLogLines {
 public:
  /// The log is opened, for the first time or again, and gets this mark.
  void open(std::string mark);
  /// The text of the lines that are new, each with its end.
  [[nodiscard]] std::string take(std::string_view octets);
  /// Whether the mark has come, or any line that is no record.
  [[nodiscard]] bool follows() const { return follows_; }

 private:
  void take_line(std::string_view line, std::string& text);

  std::string mark_, rest_;
  bool follows_ = false;
  std::string last_seen_;  ///< sequence number and time of a record
};

class HostKernelLog {
 public:
  /// How the log is reached: by a command that prints it, or by words that are put before a shell
  /// command for that host.
  struct Reach {
    std::vector<std::string> words;
    bool prints_it = false;
  };
  /// Starts to follow it, and starts again when that has ended. `name`, of the run, is part of the
  /// marks. All that is new goes to `log_file`.
  HostKernelLog(Reach reach, std::string name, std::filesystem::path log_file);

  /// Readable when there is something to take; -1 while nothing runs.
  [[nodiscard]] int descriptor() const { return output_.get(); }
  /// Takes what has come, without waiting: the report that the kernel wrote; empty: none.
  [[nodiscard]] std::string complaint();
  /// Whether something of the log has come.
  [[nodiscard]] bool heard() const { return lines_.follows(); }
  /// Whether the log is followed: a command that prints a log runs on while it has nothing to
  /// print.
  [[nodiscard]] bool follows() const { return heard() || (reach_.prints_it && process_); }
  /// Why it is not, in one line, after the command has ended.
  [[nodiscard]] std::optional<std::string> failure() const { return failure_; }

 private:
  void start();
  void take(std::string& text);
  void ended();

  Reach reach_;
  std::string name_;
  unsigned openings_ = 0;
  KernelLogLines lines_;
  std::filesystem::path log_file_;
  std::optional<base::Process> process_;
  base::FileDescriptor input_, output_, errors_;
  std::optional<std::string> failure_;
  std::int64_t started_ = 0;  ///< seconds of the steady clock
};

}  // namespace suite::lab
