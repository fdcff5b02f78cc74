// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Collects what a guest writes to its console, line by line,
// with the host's time, in a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/file_descriptor.hpp"

namespace suite::lab {

struct ConsoleLine {
  std::chrono::system_clock::time_point at;
  std::string text;
};

class Console {
 public:
  /// Lines are also appended to `file` unless its name is empty.
  explicit Console(std::filesystem::path file);
  ~Console();

  /// Reads this stream until it ends; the stream before must have ended.
  void follow(base::FileDescriptor stream);
  /// Waits for the end of the stream that is followed.
  void join();

  [[nodiscard]] std::uint64_t position() const;
  [[nodiscard]] std::vector<ConsoleLine> since(std::uint64_t position) const;
  /// Waits for a line from `position` on that holds `words`.
  bool wait_for(std::string_view words, std::uint64_t position,
                std::chrono::milliseconds time_limit) const;

 private:
  void read_all(const base::FileDescriptor& stream);
  void add_line(std::string text);

  mutable std::mutex mutex_;
  mutable std::condition_variable grown_;
  std::deque<ConsoleLine> lines_;
  std::uint64_t dropped_ = 0;  ///< lines that are not kept any longer
  std::filesystem::path path_;
  std::ofstream file_;  ///< opened when there is a stream, so that no empty file remains
  std::thread reader_;
};

}  // namespace suite::lab
