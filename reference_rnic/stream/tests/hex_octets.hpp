// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Octets typed by hand: "41 43 0000 0001" in, octets out, and back for messages of failing checks.
#pragma once

#include <cassert>
#include <string>
#include <string_view>
#include <vector>

#include "reference_rnic/wire/bytes.hpp"

namespace rnic::stream::test {

/// Hex digits in pairs; blanks and line ends between them are for the eye.
inline std::vector<std::byte> octets(std::string_view text) {
  const auto digit = [](char c) {
    return c >= 'a' ? c - 'a' + 10 : c >= 'A' ? c - 'A' + 10 : c - '0';
  };
  std::vector<std::byte> result;
  int high = -1;
  for (const char c : text) {
    if (c == ' ' || c == '\n') continue;
    assert((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
    if (high < 0) {
      high = digit(c);
    } else {
      result.push_back(static_cast<std::byte>(high * 16 + digit(c)));
      high = -1;
    }
  }
  assert(high < 0);
  return result;
}

inline std::string hex(wire::Bytes input) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte octet : input) {
    text += digits[std::to_integer<unsigned>(octet) >> 4];
    text += digits[std::to_integer<unsigned>(octet) & 15];
  }
  return text;
}

/// `text` without blanks: the form that hex() gives.
inline std::string squeezed(std::string_view text) { return hex(octets(text)); }

}  // namespace rnic::stream::test
