// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The agent's messages as lines of JSON: one message is one object on one line.
//
// C++17, so that the agent can be built alone on older hosts. Parsing is strict in both directions:
// a member that is missing, misspelt, repeated, of the wrong type or out of range is an error that
// names it; nothing that a peer sends can throw, and no line is longer than `max_line`.
//
//   {"number":7,"type":"listen","listener":1,"address":"","family":"ipv4","port":0}
//   {"type":"reply","command":7,"outcome":"ok","address":"10.77.0.2","port":4711}
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "suite/iut/messages.hpp"

namespace suite::iut {

/// Octets in a line, its line feed not counted.
inline constexpr std::size_t max_line = std::size_t{4} * 1024 * 1024;

/// Why a line is not a message.
struct ParseError {
  /// One line for people, naming the member.
  std::string what;
  /// The number of the command, if at least that could be read.
  std::uint64_t number = 0;
  bool unknown_type = false;
};

/// A value, or why there is none.
template <class T>
class Parsed {
 public:
  Parsed(T value) : content_(std::move(value)) {}
  Parsed(ParseError error) : content_(std::move(error)) {}

  explicit operator bool() const { return content_.index() == 0; }
  [[nodiscard]] const T& value() const { return std::get<0>(content_); }
  [[nodiscard]] T& value() { return std::get<0>(content_); }
  [[nodiscard]] const ParseError& error() const { return std::get<1>(content_); }

 private:
  std::variant<T, ParseError> content_;
};

struct NumberedCommand {
  /// From 1.
  std::uint64_t number = 0;
  Command command;
};

[[nodiscard]] Parsed<NumberedCommand> parse_command(std::string_view line);
/// Parses every event except GoneEvent, which no agent sends.
[[nodiscard]] Parsed<Event> parse_event(std::string_view line);

/// Both without the line feed. Invalid UTF-8 is replaced with replacement characters.
[[nodiscard]] std::string format(std::uint64_t number, const Command& command);
[[nodiscard]] std::string format(const Event& event);

/// The message's JSON type: "create_endpoint", "completion", ...
[[nodiscard]] const char* type_name(const Command& command);
[[nodiscard]] const char* type_name(const Event& event);

/// Cuts a stream of octets into lines, holding at most one line of `max_line` octets and what was
/// appended after it.
class LineBuffer {
 public:
  void append(std::string_view octets) { buffer_.append(octets); }
  /// The next whole line without its line feed. The view holds until the next call.
  [[nodiscard]] std::optional<std::string_view> next();
  /// True if the part before the next line feed is too long: nothing more will come.
  [[nodiscard]] bool oversize() const { return oversize_; }
  /// Octets that have come and were not returned as a line.
  [[nodiscard]] std::string_view rest() const { return std::string_view(buffer_).substr(start_); }

 private:
  std::string buffer_;
  /// Where the next line begins.
  std::size_t start_ = 0;
  /// There is no line feed between start_ and here.
  std::size_t searched_ = 0;
  bool oversize_ = false;
};

}  // namespace suite::iut
