// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Octets for the tests of wire: written by hand in hexadecimal, of one value, or counting up.
#pragma once

#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/hex.hpp"
#include "reference_rnic/wire/bytes.hpp"
#include "reference_rnic/wire/notation.hpp"

namespace rnic::wire::test {

/// Octets that Boost.Test can compare and print.
struct Octets : std::vector<std::byte> {
  using std::vector<std::byte>::vector;
  explicit Octets(Bytes from) : std::vector<std::byte>(from.begin(), from.end()) {}
  friend std::ostream& operator<<(std::ostream& out, const Octets& octets) {
    return out << '[' << octets.size() << "] " << hex(octets, 96);
  }
  Octets& operator+=(const Octets& more) {
    insert(end(), more.begin(), more.end());
    return *this;
  }
};

/// `"41 43 0000"`: pairs of hexadecimal digits, blanks between octets where one likes.
inline Octets octets(std::string_view text) {
  const auto read = base::from_hex(text);
  if (!read) throw std::invalid_argument("not hexadecimal: " + std::string(text));
  return Octets(*read);
}

inline Octets repeated(std::size_t count, unsigned value) {
  return Octets(count, static_cast<std::byte>(value));
}

/// Octets that differ from their neighbours, with a period (251) that divides no power of two.
inline Octets counting(std::size_t count) {
  Octets result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(static_cast<std::byte>(i % 251));
  return result;
}

/// What `write(Writer&)` puts into a buffer of `room` octets.
template <typename Write>
Octets written(Write write, std::size_t room = 70000) {
  std::vector<std::byte> buffer(room);
  Writer out(buffer);
  write(out);
  if (out.overflowed()) throw std::length_error("the test's buffer is too small");
  return Octets(out.written());
}

}  // namespace rnic::wire::test
