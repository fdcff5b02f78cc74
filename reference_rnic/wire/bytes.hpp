// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Octets as they stand on the wire: spans, network-order integers, and the bounds-checked reader
// and writer.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <span>
#include <type_traits>

namespace rnic::wire {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

/// An unsigned integer in network byte order. It has alignment 1 and no implicit arithmetic, so
/// that a wire field can never be mixed with a host integer by accident: `value()` reads it,
/// assignment writes it.
template <std::unsigned_integral T>
class BigEndian {
 public:
  constexpr BigEndian() = default;
  constexpr BigEndian(T value) {
    *this = value;
  }  // NOLINT(google-explicit-constructor): assignment from host values is the idiom
  constexpr BigEndian& operator=(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      octets_[i] = static_cast<std::byte>(value >> (8 * (sizeof(T) - 1 - i)));
    return *this;
  }
  [[nodiscard]] constexpr T value() const {
    T value = 0;
    for (std::byte octet : octets_)
      value = static_cast<T>(static_cast<T>(value << (sizeof(T) > 1 ? 8 : 0)) |
                             std::to_integer<T>(octet));
    return value;
  }
  constexpr bool operator==(const BigEndian&) const = default;

 private:
  std::array<std::byte, sizeof(T)> octets_{};
};

using be16 = BigEndian<std::uint16_t>;
using be32 = BigEndian<std::uint32_t>;
using be64 = BigEndian<std::uint64_t>;

/// A header that may be copied to and from the wire octet by octet.
template <typename T>
concept WireStruct = std::is_trivially_copyable_v<T> && alignof(T) == 1;

/// Reads wire structs from the front of a span. Reading past the end sets `truncated()` and yields
/// zeros.
class Reader {
 public:
  explicit constexpr Reader(Bytes input) : rest_(input) {}

  template <WireStruct T>
  [[nodiscard]] T read() {
    T value{};
    if (rest_.size() < sizeof(T)) {
      truncated_ = true;
      rest_ = {};
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_ = rest_.subspan(sizeof(T));
    return value;
  }
  /// The next `length` octets, or an empty span (and `truncated()`) if fewer are left.
  [[nodiscard]] Bytes take(std::size_t length) {
    if (rest_.size() < length) {
      truncated_ = true;
      rest_ = {};
      return {};
    }
    Bytes taken = rest_.first(length);
    rest_ = rest_.subspan(length);
    return taken;
  }
  [[nodiscard]] constexpr Bytes rest() const { return rest_; }
  [[nodiscard]] constexpr bool truncated() const { return truncated_; }
  /// True when every octet was read and none was missing: the check at the end of a message.
  [[nodiscard]] constexpr bool at_end() const { return !truncated_ && rest_.empty(); }

 private:
  Bytes rest_;
  bool truncated_ = false;
};

/// Writes wire structs into a caller's buffer. Writing past the end sets `overflowed()` and writes
/// nothing.
class Writer {
 public:
  explicit constexpr Writer(MutableBytes output) : output_(output) {}

  template <WireStruct T>
  void write(const T& value) {
    write(std::as_bytes(std::span(&value, 1)));
  }
  void write(Bytes octets) {
    if (output_.size() - used_ < octets.size()) {
      overflowed_ = true;
      return;
    }
    if (!octets.empty()) std::memcpy(output_.data() + used_, octets.data(), octets.size());
    used_ += octets.size();
  }
  void write_zeros(std::size_t count) {
    if (output_.size() - used_ < count) {
      overflowed_ = true;
      return;
    }
    std::ranges::fill(output_.subspan(used_, count), std::byte{0});
    used_ += count;
  }
  [[nodiscard]] constexpr std::size_t size() const { return used_; }
  [[nodiscard]] constexpr MutableBytes written() const { return output_.first(used_); }
  [[nodiscard]] constexpr bool overflowed() const { return overflowed_; }

 private:
  MutableBytes output_;
  std::size_t used_ = 0;
  bool overflowed_ = false;
};

/// The octets of one wire struct, for use where a span is wanted.
template <WireStruct T>
[[nodiscard]] Bytes octets_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace rnic::wire
