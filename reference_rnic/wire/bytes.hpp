// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Octets in wire form: spans, network-order integers, and the bounds-checked reader and writer.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <span>
#include <type_traits>

#include "base/bytes.hpp"

namespace rnic::wire {

using base::Bytes;
using base::MutableBytes;

/// An unsigned integer in network byte order. It has alignment 1 and no implicit arithmetic, so
/// that a wire field can never be mixed with a host integer by accident: `value()` reads it,
/// assignment writes it.
template <std::unsigned_integral T>
class BigEndian {
 public:
  constexpr BigEndian() = default;
  // Implicit on purpose: a host value may be assigned to a field or stand in an initializer for it.
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr BigEndian(T value) : octets_(std::bit_cast<Octets>(network_order(value))) {}
  [[nodiscard]] constexpr T value() const { return network_order(std::bit_cast<T>(octets_)); }
  constexpr bool operator==(const BigEndian&) const = default;

 private:
  using Octets = std::array<std::byte, sizeof(T)>;
  /// From host to network order, or back: on every machine the one undoes the other.
  static constexpr T network_order(T value) {
    return std::endian::native == std::endian::little ? std::byteswap(value) : value;
  }
  Octets octets_{};
};
static_assert(std::endian::native == std::endian::little ||
              std::endian::native == std::endian::big);

using be16 = BigEndian<std::uint16_t>;
using be32 = BigEndian<std::uint32_t>;
using be64 = BigEndian<std::uint64_t>;

/// A header whose memory is its wire form: no padding, no alignment, no byte order of the host.
template <typename T>
concept WireStruct = std::is_trivially_copyable_v<T> && alignof(T) == 1;

/// Reads wire structs from the front of a span. Reading past the end sets `truncated()` and returns
/// zeros, also in all later calls, so that one check after the last read is enough.
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
  /// What has not been read yet.
  [[nodiscard]] constexpr Bytes rest() const { return rest_; }
  [[nodiscard]] constexpr bool truncated() const { return truncated_; }
  /// True if every octet was read and none was missing: the check at the end of a message.
  [[nodiscard]] constexpr bool at_end() const { return !truncated_ && rest_.empty(); }

 private:
  Bytes rest_;
  bool truncated_ = false;
};

/// Writes wire structs into a caller's buffer. What does not fit sets `overflowed()` and is not
/// written, nor is anything after it: `written()` is always the beginning of what was intended.
class Writer {
 public:
  explicit constexpr Writer(MutableBytes output) : output_(output) {}

  template <WireStruct T>
  void write(const T& value) {
    write(std::as_bytes(std::span(&value, 1)));
  }
  void write(Bytes octets) {
    if (!make_room(octets.size())) return;
    if (!octets.empty()) std::memcpy(output_.data() + used_, octets.data(), octets.size());
    used_ += octets.size();
  }
  /// Octets written so far.
  [[nodiscard]] constexpr std::size_t size() const { return used_; }
  [[nodiscard]] constexpr MutableBytes written() const { return output_.first(used_); }
  [[nodiscard]] constexpr bool overflowed() const { return overflowed_; }

 private:
  bool make_room(std::size_t length) {
    overflowed_ = overflowed_ || output_.size() - used_ < length;
    return !overflowed_;
  }

  MutableBytes output_;
  std::size_t used_ = 0;
  bool overflowed_ = false;
};

/// The octets of one wire struct, which must outlive them.
template <WireStruct T>
[[nodiscard]] Bytes octets_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace rnic::wire
