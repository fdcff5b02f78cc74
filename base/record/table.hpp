// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The description of a struct that is sent or stored as JSON: one table per struct, from which the
// reader, the writer (json_reader.hpp, json_writer.hpp) and the schema (schema.hpp) are derived.
// C++17, for the agent's own build.
//
// A table is found by argument-dependent lookup, next to the struct:
//
//   struct Row { std::string name; Verdict verdict; std::optional<std::uint32_t> frame; };
//   constexpr auto names_of(Verdict) { return std::array{"pass", "fail"}; }
//   constexpr auto table_of(const Row*) {
//     return table("row", required("name", &Row::name), required("verdict", &Row::verdict),
//                  required("frame", &Row::frame).from(1));
//   }
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace base::record {

enum class Presence : std::uint8_t {
  /// The member is always present; an empty optional is null.
  required,
  /// A writer may leave the member out, which then keeps its default; an empty optional is left out.
  defaulted,
  /// Like `required`, but only between processes of one build; no document has it.
  internal
};

/// The form of a text.
enum class Form : std::uint8_t { any, hex, sha256, timestamp };

/// What the value of a member must satisfy besides its type.
struct Constraint {
  /// Of a text: the words that it may be; null: any text.
  const char* const* words = nullptr;
  std::size_t word_count = 0;
  Form form = Form::any;
  /// Of a number, or of the numbers in a map: the least value; nothing: the least of its type.
  std::optional<std::int64_t> minimum{};
  /// Of a list: has at least one element.
  bool nonempty = false;
};

template <class Owner, class Value>
struct Member {
  const char* name;
  Value Owner::* place;
  Presence presence;
  Constraint constraint{};

  template <std::size_t N>
  [[nodiscard]] constexpr Member one_of(const std::array<const char*, N>& words) const {
    Member made = *this;
    made.constraint.words = words.data();
    made.constraint.word_count = N;
    return made;
  }
  [[nodiscard]] constexpr Member form(Form form) const {
    Member made = *this;
    made.constraint.form = form;
    return made;
  }
  [[nodiscard]] constexpr Member from(std::int64_t minimum) const {
    Member made = *this;
    made.constraint.minimum = minimum;
    return made;
  }
  [[nodiscard]] constexpr Member nonempty() const {
    Member made = *this;
    made.constraint.nonempty = true;
    return made;
  }
};

/// A part whose members are among those of its owner. A variant of structs adds a member "type"
/// with the name of the alternative's table.
template <class Owner, class Part>
struct Inlined {
  Part Owner::* place;
};

/// A member that has the same value in every document, such as the version of the format.
template <class Value>
struct Constant {
  const char* name;
  Value value;
};

template <class... Members>
struct Table {
  const char* name;
  std::tuple<Members...> members;
};

template <class Owner, class Value>
[[nodiscard]] constexpr Member<Owner, Value> required(const char* name, Value Owner::* place) {
  return {name, place, Presence::required};
}
template <class Owner, class Value>
[[nodiscard]] constexpr Member<Owner, Value> defaulted(const char* name, Value Owner::* place) {
  return {name, place, Presence::defaulted};
}
template <class Owner, class Value>
[[nodiscard]] constexpr Member<Owner, Value> internal(const char* name, Value Owner::* place) {
  return {name, place, Presence::internal};
}
template <class Owner, class Part>
[[nodiscard]] constexpr Inlined<Owner, Part> inlined(Part Owner::* place) {
  return {place};
}
template <class Value>
[[nodiscard]] constexpr Constant<Value> constant(const char* name, Value value) {
  return {name, value};
}
template <class... Members>
[[nodiscard]] constexpr Table<Members...> table(const char* name, Members... members) {
  return {name, {members...}};
}

template <class T, class = void>
inline constexpr bool has_table = false;
template <class T>
inline constexpr bool
    has_table<T, std::void_t<decltype(table_of(static_cast<const T*>(nullptr)))>> = true;

template <class T>
[[nodiscard]] constexpr auto table_for() {
  return table_of(static_cast<const T*>(nullptr));
}

/// A set of rights or the like: a struct of booleans that is written as the list of those that are
/// true. `flags_of(const Set*)` returns an array of these.
template <class Owner>
struct Flag {
  const char* name;
  bool Owner::* place;
};

template <class T, class = void>
inline constexpr bool has_flags = false;
template <class T>
inline constexpr bool
    has_flags<T, std::void_t<decltype(flags_of(static_cast<const T*>(nullptr)))>> = true;

template <class T>
[[nodiscard]] constexpr auto flags_for() {
  return flags_of(static_cast<const T*>(nullptr));
}

/// The name of an enumerator; `names_of` lists them in the order of the enumeration.
template <class Enumeration>
[[nodiscard]] constexpr auto name(Enumeration value) -> std::decay_t<decltype(names_of(value)[0])> {
  return names_of(value)[static_cast<std::size_t>(value)];
}

/// The enumerator of this name, or nothing.
template <class Enumeration>
[[nodiscard]] constexpr std::optional<Enumeration> find(std::string_view name) {
  std::size_t at = 0;
  for (const char* each : names_of(Enumeration{})) {
    if (name == each) return static_cast<Enumeration>(at);
    ++at;
  }
  return std::nullopt;
}

}  // namespace base::record
