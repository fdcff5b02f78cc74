// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Cuts what a pipe delivers into lines. For words between processes of this program: the size of a
// line is not limited.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace suite::runner {

class LineReader {
 public:
  void append(std::string_view text) { buffer_.append(text); }
  /// The next whole line without its newline; empty lines are left out.
  [[nodiscard]] std::optional<std::string> next() {
    while (true) {
      const auto end = buffer_.find('\n', searched_);
      if (end == std::string::npos) {
        searched_ = buffer_.size();
        return std::nullopt;
      }
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      searched_ = 0;
      if (!line.empty()) return line;
    }
  }

 private:
  std::string buffer_;
  std::size_t searched_ = 0;  ///< no newline before it
};

}  // namespace suite::runner
