// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A live capture of one interface into a pcapng file, while a program runs.
#pragma once

#include <cstdio>
#include <expected>
#include <memory>
#include <string>

#include "dissectors/capture/live_capture.hpp"

namespace suite::verbs_run {

class FileCapture {
 public:
  /// Begins to capture. The error is one line.
  [[nodiscard]] static std::expected<FileCapture, std::string> open(const std::string& interface,
                                                                    const std::string& file);
  [[nodiscard]] int fd() const { return live_.fd(); }
  /// Writes what has come.
  [[nodiscard]] std::expected<void, std::string> poll();
  /// Waits until everything that has passed so far is written, and closes the file. An error too if
  /// frames were dropped.
  [[nodiscard]] std::expected<void, std::string> finish();

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  FileCapture(dissectors::capture::LiveCapture live, dissectors::capture::Sentinel sentinel,
              std::unique_ptr<std::FILE, CloseFile> file)
      : live_(std::move(live)), sentinel_(std::move(sentinel)), file_(std::move(file)) {}

  dissectors::capture::LiveCapture live_;
  dissectors::capture::Sentinel sentinel_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::uint64_t seen_ = 0;  ///< the highest number of our sentinels
};

}  // namespace suite::verbs_run
