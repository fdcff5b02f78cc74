// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/hex.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace base {
namespace {

constexpr std::array<std::int8_t, 256> make_values() {
  std::array<std::int8_t, 256> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto c = static_cast<int>(i);
    const int value = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    table[i] = static_cast<std::int8_t>(value);
  }
  return table;
}
constexpr std::array<std::int8_t, 256> values = make_values();
constexpr std::string_view digits = "0123456789abcdef";

}  // namespace

std::string to_hex(const void* octets, std::size_t count, std::string_view separator) {
  const auto* const octet = static_cast<const unsigned char*>(octets);
  std::string text;
  text.reserve(count * (2 + separator.size()));
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) text += separator;
    text += digits[octet[i] >> 4U];
    text += digits[octet[i] & 15U];
  }
  return text;
}

int hex_digit(char digit) { return values[static_cast<unsigned char>(digit)]; }

Octets leading_hex(std::string_view text) {
  Octets octets;
  octets.reserve(text.size() / 2);
  for (; text.size() >= 2; text.remove_prefix(2)) {
    const int high = hex_digit(text[0]), low = hex_digit(text[1]);
    if (high < 0 || low < 0) break;
    octets.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return octets;
}

std::optional<Octets> from_hex(std::string_view text) {
  Octets octets;
  octets.reserve(text.size() / 2);
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \n\t\r"), text.size()));
    if (text.empty()) return octets;
    const int high = hex_digit(text[0]), low = text.size() > 1 ? hex_digit(text[1]) : -1;
    if (high < 0 || low < 0) return std::nullopt;
    octets.push_back(static_cast<std::byte>(high * 16 + low));
    text.remove_prefix(2);
  }
}

}  // namespace base
