// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How the cases of one file are collected: each is a struct, numbered by __COUNTER__, and the last
// line of the file makes rows of the case table from them.
#pragma once

#include <string_view>
#include <utility>

#include "suite/cases/framework/case.hpp"
#include "suite/cases/framework/case_options.hpp"

namespace suite::cases {

/// The row of a case in the first of its roles, without its body.
[[nodiscard]] Case make_row(std::string_view folder, std::string_view file, std::string_view slug,
                            std::string_view source, int line, const CaseOptions& options);

/// Calls `take` with each type that `Numbered<First>`, `Numbered<First + 1>`, ... name.
template <template <int> typename Numbered, int First, typename Take, int... Offsets>
void for_each_case(const Take& take, std::integer_sequence<int, Offsets...>) {
  const auto one = [&]<int Number>() {
    if constexpr (requires { typename Numbered<Number>::Type; })
      take.template operator()<typename Numbered<Number>::Type>();
  };
  (one.template operator()<First + Offsets>(), ...);
}

}  // namespace suite::cases

#define RNIC_CASE_JOIN(a, b) a##_##b

/// One case whose body is a member function of a struct derived from `Base`.
#define RNIC_CASE(Base, name, ...) RNIC_CASE_NUMBERED(Base, name, __COUNTER__, __VA_ARGS__)
#define RNIC_CASE_NUMBERED(Base, name, number, ...)              \
  namespace {                                                    \
  struct name final : Base {                                     \
    using Base::Base;                                            \
    static constexpr std::string_view slug = #name;              \
    static constexpr std::string_view source_file = __FILE__;    \
    static constexpr int line = __LINE__;                        \
    [[nodiscard]] static ::suite::cases::CaseOptions options() { \
      return ::suite::cases::case_options(__VA_ARGS__);          \
    }                                                            \
    void body() override;                                        \
  };                                                             \
  template <>                                                    \
  struct NumberedCase<number> {                                  \
    using Type = name;                                           \
  };                                                             \
  }                                                              \
  void name::body()
