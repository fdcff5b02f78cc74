// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The forms of texts in records. C++17.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/hex.hpp"
#include "base/record/table.hpp"

namespace base::record {

/// The value of a lower-case digit; -1: it is not a digit.
[[nodiscard]] inline int nibble(char digit) {
  return digit >= 'A' && digit <= 'F' ? -1 : hex_digit(digit);
}

[[nodiscard]] inline bool is_hex(std::string_view text) {
  return text.size() % 2 == 0 &&
         std::all_of(text.begin(), text.end(), [](char digit) { return nibble(digit) >= 0; });
}

/// RFC 3339, UTC with a Z: checks the characters that are not digits and their places.
[[nodiscard]] inline bool is_timestamp(std::string_view text) {
  constexpr std::string_view shape = "0000-00-00T00:00:00";
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.size() <= shape.size() || text.back() != 'Z') return false;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == '0' ? !is_digit(text[i]) : text[i] != shape[i]) return false;
  text.remove_prefix(shape.size());
  text.remove_suffix(1);
  return text.empty() || (text.size() > 1 && text.front() == '.' &&
                          std::all_of(text.begin() + 1, text.end(), is_digit));
}
[[nodiscard]] inline bool has_form(std::string_view text, Form form) {
  switch (form) {
    case Form::any:
      return true;
    case Form::hex:
      return is_hex(text);
    case Form::sha256:
      return text.size() == 64 && is_hex(text);
    case Form::timestamp:
      return is_timestamp(text);
  }
  return false;
}
/// What a fault says about a text that does not have this form.
[[nodiscard]] inline const char* wanted(Form form) {
  switch (form) {
    case Form::any:
      break;
    case Form::hex:
      return "octets as pairs of lower-case hexadecimal digits";
    case Form::sha256:
      return "a SHA-256 as 64 lower-case hexadecimal digits";
    case Form::timestamp:
      return "a time in UTC such as \"2026-01-02T03:04:05.6Z\"";
  }
  return "a string";
}

}  // namespace base::record
