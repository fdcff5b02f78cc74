// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The lines between the host and the guest's rnic-guestd on serial channels: programs with their
// stdio on some, commands on another.
//
// A program's channel: each session has a token; lines before a session's own first line, or with
// another token, belong to an earlier session and are dropped. Text never contains a
// newline; "+" marks a piece after which the same line continues, so no line is long.
//
//   host to guest:  begin TOKEN | arg TEXT | go | in TEXT | in+ TEXT | eof
//   guest to host:  TOKEN started
//                   TOKEN out TEXT | TOKEN out+ TEXT | TOKEN err TEXT | TOKEN err+ TEXT
//                   TOKEN end exit N | TOKEN end signal N | TOKEN end error TEXT
//
// `begin` ends (SIGKILL) the program on that channel; so does the host when it closes it. The
// control channel: "NUMBER COMMAND ARGUMENTS" is answered by "NUMBER ok TEXT" or "NUMBER error
// TEXT", in the order of completion.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace suite::lab::channel {

inline constexpr std::size_t longest_piece = 16384;
inline constexpr std::string_view control_name = "rnic.control";
inline constexpr std::string_view agent_name_prefix = "rnic.agent.";

/// Cuts a stream into lines. A line longer than `limit` is passed on cut, so memory is bounded.
class LineCutter {
 public:
  explicit LineCutter(std::size_t limit = 2 * longest_piece) : limit_(limit) {}

  /// Calls `take(line)` for each line that is complete.
  void add(std::string_view octets, const std::function<void(std::string_view)>& take) {
    while (!octets.empty()) {
      const std::size_t newline = std::min(octets.find('\n'), octets.size());
      const std::size_t length = std::min(newline, limit_ - line_.size());
      line_.append(octets.substr(0, length));
      octets.remove_prefix(length);
      if (octets.empty()) return;  // more octets may come
      if (octets.front() == '\n') octets.remove_prefix(1);
      std::string line;
      line.swap(line_);
      take(line);
    }
  }
  void clear() { line_.clear(); }

 private:
  std::size_t limit_;
  std::string line_;
};

/// Converts a stream into lines "KEYWORD TEXT" and, if a line continues, "KEYWORD+ TEXT".
inline std::string wrap(std::string_view prefix, std::string_view keyword,
                        std::string_view octets) {
  std::string lines;
  while (!octets.empty()) {
    const std::size_t newline = octets.substr(0, longest_piece).find('\n');
    const bool whole = newline != std::string_view::npos;
    const std::size_t length = whole ? newline : std::min(octets.size(), longest_piece);
    lines.append(prefix).append(keyword).append(whole ? " " : "+ ");
    lines.append(octets.substr(0, length)).push_back('\n');
    octets.remove_prefix(length + (whole ? 1 : 0));
  }
  return lines;
}

/// The text after "KEYWORD " or "KEYWORD+ ", with its line end restored for the former; false if
/// the line has another keyword.
inline bool unwrap(std::string_view line, std::string_view keyword, std::string& into) {
  if (!line.starts_with(keyword)) return false;
  line.remove_prefix(keyword.size());
  const bool piece = line.starts_with("+ ");
  if (!piece && !line.starts_with(' ')) return false;
  into.append(line.substr(piece ? 2 : 1));
  if (!piece) into.push_back('\n');
  return true;
}

/// Removes "WORD " from the front and returns WORD; the rest may be empty.
inline std::string_view take_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

}  // namespace suite::lab::channel
