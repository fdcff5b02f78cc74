// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Results on disk that survive a kill: files of lines that only grow, and files that are replaced
// as a whole. Faults are values of errno; 0 is none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/file_descriptor.hpp"

namespace base {

/// Writes all of the text, with as many calls as necessary.
[[nodiscard]] int write_all(int fd, std::string_view text);

/// Writes the file completely or not at all: under another name, synced, then renamed.
[[nodiscard]] int replace_file(const std::filesystem::path& file, std::string_view text);

class LineFile {
 public:
  /// An object without a file.
  LineFile() = default;
  /// Continues an open file in which this many octets are complete lines; begin() cuts off what
  /// follows them, a line that a kill has torn.
  LineFile(FileDescriptor file, std::uint64_t whole) : file_(std::move(file)), whole_(whole) {}

  [[nodiscard]] int begin();
  /// Appends a line, and adds the newline. A line that does not fit on the disk is removed again
  /// completely.
  [[nodiscard]] int append(std::string_view line);
  /// Returns when everything appended is on the disk, as far as the file system reports it.
  [[nodiscard]] int sync();

 private:
  FileDescriptor file_;
  std::uint64_t whole_ = 0;
};

}  // namespace base
