// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/dat/memory.hpp"

#include <algorithm>

namespace suite::sessions::dat {

namespace {

/// The provider's threads change memory behind the compiler's back.
std::byte now(const std::byte& octet) { return *static_cast<const volatile std::byte*>(&octet); }

}  // namespace

// No octet equals its neighbours, and no short period hides a shift.
Memory::Memory(std::size_t length, std::uint64_t seed)
    : octets(std::make_unique<std::vector<std::byte>>(length)),
      base(reinterpret_cast<DAT_VADDR>(octets->data())),
      expected(length) {
  for (std::size_t i = 0; i < length; ++i) {
    const auto value = static_cast<std::uint8_t>(i * 7 + i / 251 + seed * 31 + 1);
    (*octets)[i] = std::byte{value};
    expected[i].value = value;
  }
}

bool Memory::is_used(std::size_t offset, std::size_t length) const {
  return std::ranges::any_of(used, [&](const Hold& hold) {
    return hold.offset < offset + length && offset < hold.offset + hold.length;
  });
}

std::optional<std::size_t> Memory::place(std::size_t wanted, std::size_t length) const {
  if (length > size()) return std::nullopt;
  const std::size_t last = size() - length;
  const std::size_t first = std::min(wanted, last);
  for (std::size_t tried = 0; tried <= last; ++tried) {
    const std::size_t at = (first + tried) % (last + 1);
    if (!is_used(at, length)) return at;
  }
  return std::nullopt;
}

Octets Memory::copy(std::size_t offset, std::size_t length) const {
  const auto from = expected.begin() + static_cast<std::ptrdiff_t>(offset);
  return {from, from + static_cast<std::ptrdiff_t>(length)};
}

void Memory::set(std::size_t offset, const Octets& wanted) {
  std::ranges::copy(wanted, expected.begin() + static_cast<std::ptrdiff_t>(offset));
}

void Memory::may_become(std::size_t offset, const Octets& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Octet& octet = expected[offset + i];
    if (octet.two || wanted[i].two) {
      octet = {};
    } else {
      octet.two = true;
      octet.other = wanted[i].value;
    }
  }
}

void Memory::forget(std::size_t offset, std::size_t length) { set(offset, Octets(length)); }

std::optional<std::size_t> Memory::wrong() const {
  for (std::size_t i = 0; i < size(); ++i) {
    if (expected[i].admits(now((*octets)[i]))) continue;
    const bool changes = std::ranges::any_of(used, [i](const Hold& hold) {
      return hold.changing && hold.offset <= i && i < hold.offset + hold.length;
    });
    if (!changes) return i;
  }
  return std::nullopt;
}

bool Memory::holds(std::size_t offset, const Octets& wanted) const {
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!wanted[i].admits(now((*octets)[offset + i]))) return false;
  return true;
}

}  // namespace suite::sessions::dat
