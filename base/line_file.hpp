// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Results on disk that survive a kill: files of lines that only grow, and files that are replaced
// whole. Faults are numbers of errno; 0 is none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/file_descriptor.hpp"

namespace base {

/// Writes all of it, however many calls that takes.
[[nodiscard]] int write_all(int fd, std::string_view text);

/// Writes the file whole or not at all: under another name, synced, then renamed.
[[nodiscard]] int replace_file(const std::filesystem::path& file, std::string_view text);

class LineFile {
 public:
  /// Of no file.
  LineFile() = default;
  /// Goes on with an open file of which so many octets are whole lines; what follows them, a line
  /// that a kill has torn, is cut off by begin().
  LineFile(FileDescriptor file, std::uint64_t whole) : file_(std::move(file)), whole_(whole) {}

  [[nodiscard]] int begin();
  /// Appends a line, to which it adds the newline. One that does not fit on the disk is taken back
  /// whole.
  [[nodiscard]] int append(std::string_view line);
  /// Returns when all that was appended is on the disk, as far as its file system can tell.
  [[nodiscard]] int sync();

 private:
  FileDescriptor file_;
  std::uint64_t whole_ = 0;
};

}  // namespace base
