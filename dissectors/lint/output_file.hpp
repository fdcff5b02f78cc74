// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A file that rnic-lint writes; its first fault is kept until it is queried.
#pragma once

#include <cstddef>
#include <cstdio>
#include <expected>
#include <memory>
#include <span>
#include <string>

namespace dissectors::lint {

class OutputFile {
 public:
  enum class Mode : bool { fresh, append };
  /// The error is one line that names the file.
  [[nodiscard]] static std::expected<OutputFile, std::string> open(const std::string& path,
                                                                   Mode mode = Mode::fresh);
  void write(std::span<const std::byte> octets);
  /// Closes it; the error is that of the first write that failed.
  [[nodiscard]] std::expected<void, std::string> close();

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  OutputFile(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
  int fault_ = 0;  ///< errno of the first failed write
};

}  // namespace dissectors::lint
