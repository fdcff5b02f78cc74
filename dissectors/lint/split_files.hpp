// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A pcap for each iWARP connection of a capture.
#pragma once

#include <cstdint>
#include <expected>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dissectors/capture/capture_reader.hpp"
#include "dissectors/lint/output_file.hpp"
#include "dissectors/lint/record.hpp"

namespace dissectors::lint {

class SplitFiles {
 public:
  /// Files that are open at once.
  static constexpr std::size_t most_open = 128;

  /// Makes the folder if it does not exist.
  [[nodiscard]] static std::expected<SplitFiles, std::string> create(const std::string& folder);

  /// First pass over the capture: which connections there are, and which are iWARP.
  void learn(const Record& record);
  /// Second pass: all its frames, in order, numbered from 1.
  void begin(capture::LinkType link) { link_ = link; }
  void frame(std::uint32_t number, const capture::FrameView& frame);
  /// The error is the first one that occurred.
  [[nodiscard]] std::expected<void, std::string> finish();
  [[nodiscard]] std::size_t files() const { return begun_.size(); }

 private:
  struct Life {
    std::uint32_t since = 0;  ///< first frame
    std::uint64_t number = 0;
  };
  struct Open {
    std::uint64_t number = 0;
    OutputFile file;
  };
  explicit SplitFiles(std::string folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::optional<std::uint64_t> connection_of(std::uint32_t number,
                                                           const capture::FrameView& frame) const;
  OutputFile* file_of(std::uint64_t number);
  void close_oldest();
  void keep(const std::expected<void, std::string>& done);

  std::string folder_;
  capture::LinkType link_ = capture::LinkType::ethernet;
  std::map<capture::Flow, std::vector<Life>> lives_;  ///< by canonical flow, in order of frames
  std::unordered_set<std::uint64_t> wanted_, begun_;  ///< connections
  std::list<Open> open_;                              ///< the one used last in front
  std::unordered_map<std::uint64_t, std::list<Open>::iterator> places_;
  std::string fault_;
};

}  // namespace dissectors::lint
