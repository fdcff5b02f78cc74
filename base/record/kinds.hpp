// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The kinds of values that a member of a record can have. C++17.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/record/table.hpp"

namespace base::record {

template <class T>
inline constexpr bool is_octet = std::is_same_v<T, std::byte> || std::is_same_v<T, std::uint8_t>;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// Octets of any number, and of a fixed one; both travel as hexadecimal digits.
template <class T>
inline constexpr bool is_octets = false;
template <class T>
inline constexpr bool is_octets<std::vector<T>> = is_octet<T>;
template <class T>
inline constexpr std::size_t octet_count = 0;
template <class T, std::size_t N>
inline constexpr std::size_t octet_count<std::array<T, N>> = is_octet<T> ? N : 0;

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = !is_octet<T>;

template <class T>
inline constexpr bool is_map = false;
template <class Key, class T>
inline constexpr bool is_map<std::map<Key, T>> =
    std::is_same_v<Key, std::string> || std::is_enum_v<Key>;

template <class T>
inline constexpr bool is_variant = false;
template <class... T>
inline constexpr bool is_variant<std::variant<T...>> = true;

/// Written as a number of seconds, which a double holds to the nanosecond for about 50 days.
template <class T>
inline constexpr bool is_duration = std::is_same_v<T, std::chrono::nanoseconds>;

template <class T>
inline constexpr bool is_integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;

template <class...>
inline constexpr bool always_false = false;

/// Calls `call` with each name of an enumeration, of a set of flags, or of a constraint.
template <class Call>
void for_each_word(const Constraint& constraint, const Call& call) {
  for (std::size_t i = 0; i < constraint.word_count; ++i) call(constraint.words[i]);
}

}  // namespace base::record
