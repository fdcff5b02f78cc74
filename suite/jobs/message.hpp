// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A message between processes of one program, over a pipe: a line, and octets that may be attached
// to it. Its size is not limited.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace suite::jobs {

/// On the pipe: the line and a newline; with an attachment, its size in octets and a space before
/// the line, and the octets unchanged after the newline.
struct Message {
  std::string line;
  std::string attachment;

  [[nodiscard]] std::string on_the_pipe() const {
    const std::string size = attachment.empty() ? "" : std::to_string(attachment.size()) + " ";
    return size + line + "\n" + attachment;
  }
};

/// Cuts the octets from a pipe into messages.
class MessageReader {
 public:
  void append(std::string_view text) { buffer_.append(text); }
  /// The next whole message; empty lines are left out.
  [[nodiscard]] std::optional<Message> next() {
    buffer_.erase(0, buffer_.find_first_not_of('\n'));
    const auto end = buffer_.find('\n', searched_);
    searched_ = end == std::string::npos ? buffer_.size() : end;
    if (end == std::string::npos) return std::nullopt;
    std::size_t attached = 0, line = 0;
    const auto size = std::from_chars(buffer_.data(), buffer_.data() + end, attached);
    if (size.ec == std::errc() && *size.ptr == ' ') {
      line = static_cast<std::size_t>(size.ptr - buffer_.data()) + 1;
    } else {
      attached = 0;
    }
    if (buffer_.size() - end - 1 < attached) return std::nullopt;
    Message message{.line = buffer_.substr(line, end - line),
                    .attachment = buffer_.substr(end + 1, attached)};
    buffer_.erase(0, end + 1 + attached);
    searched_ = 0;
    return message;
  }
  /// Whether a message has begun and not ended.
  [[nodiscard]] bool in_message() const {
    return buffer_.find_first_not_of('\n') != std::string::npos;
  }

 private:
  std::string buffer_;
  /// There is no newline before it.
  std::size_t searched_ = 0;
};

}  // namespace suite::jobs
