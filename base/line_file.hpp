// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Results on disk that survive a kill: files of lines that only grow, and files that are replaced
// as a whole. Faults are values of errno; 0 is none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"

namespace base {

/// Writes all of the text, with as many calls as necessary.
[[nodiscard]] int write_all(int fd, std::string_view text);

/// Writes the file completely or not at all: under another name, synced, then renamed.
[[nodiscard]] int replace_file(const std::filesystem::path& file, std::string_view text);

/// The same for a file that is too large to be in memory: its text comes in pieces.
class Replacement {
 public:
  explicit Replacement(std::filesystem::path file);
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement();

  /// What cannot be written is a fault of commit().
  void append(std::string_view text);
  /// Puts it in the place of the file. Without this, nothing has changed.
  [[nodiscard]] int commit();

 private:
  void flush();

  std::filesystem::path file_, draft_;
  FileDescriptor fd_;
  std::string waiting_;
  int fault_ = 0;
};

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
  /// Octets that are whole lines.
  [[nodiscard]] std::uint64_t size() const { return whole_; }

 private:
  FileDescriptor file_;
  std::uint64_t whole_ = 0;
};

}  // namespace base
