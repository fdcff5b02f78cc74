// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The model's memory: what each octet of a region may hold, and which octets transfers that are under
// way may change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "suite/cases/dat/framework/dat_headers.hpp"

namespace suite::sessions::dat {

/// What an octet may be: one value, one of two, or anything.
struct Octet {
  static constexpr std::int16_t any = -1;
  std::int16_t value = any;
  std::int16_t other = any;
  bool two = false;
  [[nodiscard]] bool admits(std::byte got) const {
    const auto number = std::to_integer<std::int16_t>(got);
    return value == any || value == number || (two && (other == any || other == number));
  }
};
using Octets = std::vector<Octet>;

/// Octets that a transfer under way uses.
struct Hold {
  std::uint64_t id = 0;
  std::size_t offset = 0, length = 0;
  /// It may change them at any time.
  bool changing = false;
};

struct Range {
  std::size_t region = 0, offset = 0, length = 0;
};

/// The octets of a region that was registered. They outlive it: what writes to them later is found.
struct Memory {
  Memory(std::size_t length, std::uint64_t seed);
  [[nodiscard]] std::size_t size() const { return octets->size(); }
  /// A place for so many octets that no transfer uses, at this offset if there is one.
  [[nodiscard]] std::optional<std::size_t> place(std::size_t wanted, std::size_t length) const;
  [[nodiscard]] bool is_used(std::size_t offset, std::size_t length) const;
  [[nodiscard]] Octets copy(std::size_t offset, std::size_t length) const;
  void set(std::size_t offset, const Octets& octets);
  /// Each octet is as before, or as in `octets`.
  void may_become(std::size_t offset, const Octets& octets);
  void forget(std::size_t offset, std::size_t length);
  /// The first octet that cannot be, outside what may change.
  [[nodiscard]] std::optional<std::size_t> wrong() const;
  /// Whether these octets are there.
  [[nodiscard]] bool holds(std::size_t offset, const Octets& wanted) const;

  std::unique_ptr<std::vector<std::byte>> octets;
  /// By which its first octet is addressed: its own address, or zero.
  DAT_VADDR base;
  Octets expected;
  std::vector<Hold> used;
};

}  // namespace suite::sessions::dat
