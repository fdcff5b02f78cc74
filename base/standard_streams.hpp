// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Standard output and standard error of a program that outlives whatever they lead to: a terminal
// that is closed, a pipe without a reader, a full disk.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace base {

/// To be called first in main(): a write to a pipe without a reader is an error and no signal, and
/// a standard stream that is closed leads to /dev/null, so that no file of ours gets its number.
void keep_standard_streams();

/// As under nohup: a terminal that goes away does not end this program, nor those it starts.
void outlive_the_terminal();

/// Writes text and flushes it. What cannot be written is dropped; `unwritten()` says so.
void say(std::FILE* stream, std::string_view text) noexcept;

/// The same with a format.
template <typename First, typename... Rest>
void say(std::FILE* stream, fmt::format_string<First, Rest...> format, First&& first,
         Rest&&... rest) {
  say(stream, std::string_view(
                  fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...)));
}

/// Whether a line can be written without waiting for who reads it: not to a terminal that is
/// stopped, for example.
[[nodiscard]] bool takes_a_line(std::FILE* stream);

/// What a program has to say at its end whose standard output is what it was asked for: one line,
/// if some of it could not be written.
[[nodiscard]] std::optional<std::string> unwritten_output();

}  // namespace base
