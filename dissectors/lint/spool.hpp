// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A copy on disk of what cannot be read twice: standard input and live captures. It has no name and
// disappears with its object.
#pragma once

#include <cstdio>
#include <expected>
#include <string>
#include <vector>

#include "dissectors/capture/capture_reader.hpp"

namespace dissectors::lint {

class Spool {
 public:
  /// In this folder, which needs room for the frames anyway.
  [[nodiscard]] static std::expected<Spool, std::string> create(const std::string& folder,
                                                                capture::LinkType link);
  Spool(Spool&& other) noexcept;
  Spool& operator=(Spool&& other) noexcept;
  ~Spool();

  void add(const capture::FrameView& frame);
  /// Reads what was added, from the start. Nothing can be added after this.
  [[nodiscard]] std::expected<capture::CaptureReader, std::string> read();

 private:
  Spool(std::FILE* file, std::string folder) : file_(file), folder_(std::move(folder)) {}
  void add(const std::vector<std::byte>& octets);

  std::FILE* file_ = nullptr;
  std::string folder_;
  int fault_ = 0;  ///< errno of the first write that failed
};

}  // namespace dissectors::lint
