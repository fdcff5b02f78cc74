// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A copy of the capture as a pcapng in which the frames that caused violations have them as
// comments, for any Wireshark to show.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <unordered_map>
#include <vector>

#include "dissectors/capture/capture_reader.hpp"
#include "dissectors/lint/output_file.hpp"
#include "dissectors/lint/record.hpp"

namespace dissectors::lint {

class ViolationsFile {
 public:
  /// Comments kept for one frame, and for all; the last one says how many there are beyond that.
  static constexpr std::size_t comments_of_frame = 16, comments_of_all = 1'000'000;

  [[nodiscard]] static std::expected<ViolationsFile, std::string> create(const std::string& path);

  /// First pass over the capture: the comments.
  void learn(const Record& record);
  /// Second pass: all its frames, in order, numbered from 1.
  void begin(capture::LinkType link, const std::string& capture_name);
  void frame(std::uint32_t number, const capture::FrameView& frame);
  [[nodiscard]] std::expected<void, std::string> finish();

 private:
  struct Comments {
    std::vector<std::string> texts;
    std::uint64_t more = 0;  ///< violations that found no room
  };
  explicit ViolationsFile(OutputFile file) : file_(std::move(file)) {}

  OutputFile file_;
  std::unordered_map<std::uint32_t, Comments> comments_;  ///< by frame
  std::size_t count_ = 0;
};

}  // namespace dissectors::lint
