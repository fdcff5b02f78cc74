// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Standard output and standard error of a program that continues whatever happens to them: a closed
// terminal, a pipe without a reader, a full disk.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace base {

/// To be called first in main(): a write to a pipe without a reader becomes an error instead of a
/// signal, and a closed standard stream is replaced by /dev/null, so that no file of ours gets its
/// number.
void keep_standard_streams();

/// As with nohup: a terminal that is closed does not end this program, nor those it starts.
void outlive_the_terminal();

/// Writes text and flushes it. What cannot be written is dropped; `unwritten_output()` reports
/// that.
void say(std::FILE* stream, std::string_view text) noexcept;

/// The same with a format.
template <typename First, typename... Rest>
void say(std::FILE* stream, fmt::format_string<First, Rest...> format, First&& first,
         Rest&&... rest) {
  say(stream, std::string_view(
                  fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...)));
}

/// Whether a line can be written without waiting for its reader: not to a stopped terminal, for
/// example.
[[nodiscard]] bool takes_a_line(std::FILE* stream);

/// For the end of a program whose result is its standard output: one line, if some of it could not
/// be written.
[[nodiscard]] std::optional<std::string> unwritten_output();

}  // namespace base
