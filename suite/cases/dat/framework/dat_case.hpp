// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How a case of the DAT API is written, and the table of these cases.
//
//   DAT_CASE(free_of_no_handle, calls(dat_pz_free), rules("dat.pz-free.invalid-handle")) {
//     expect(CALL(dat_pz_free, DAT_HANDLE_NULL), returns(DAT_INVALID_HANDLE));
//   }
//
//   DAT_CASES_OF_FILE(pz)
//
// Its id is `dat.<file>.<slug>`. Every case runs in a process of its own (rnic-dat-cases), since
// libdat2 follows bad handles and a provider may crash or hang.
#pragma once

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "suite/cases/dat/framework/dat_body.hpp"
#include "suite/cases/framework/rule_ref.hpp"

namespace suite::cases::dat {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): deadline_of(20s)

struct DatCase {
  std::string id;
  std::string title;  ///< the slug as a sentence
  std::string file;   ///< source file and line
  std::vector<std::string_view> rules;
  std::vector<std::string_view> calls;  ///< `dat_ep_connect`: those whose behaviour it judges
  std::chrono::milliseconds deadline = 5s;
  /// Calls are given handles that no consumer may give: a crash in the provider is an advisory then.
  bool hostile = false;
  std::function<void(DatContext&)> run;
};

/// Every case of the DAT API, in the order of the files.
[[nodiscard]] std::vector<DatCase> all_dat_cases();

// ---------------------------------------------------------------- options of a case

using DatOption = std::function<void(DatCase&)>;

/// The option that no case can do without, and so a type of its own.
struct DatRules {
  std::array<RuleRef, 6> judged;
  void operator()(DatCase& one) const {
    for (const RuleRef& rule : judged)
      if (!rule.id.empty()) one.rules.push_back(rule.id);
  }
};
/// The rules that the case judges. The first is the one that its expectations mean unless they name
/// another.
[[nodiscard]] inline DatRules rules(RuleRef first, RuleRef second = {}, RuleRef third = {},
                                    RuleRef fourth = {}, RuleRef fifth = {}, RuleRef sixth = {}) {
  return {{first, second, third, fourth, fifth, sixth}};
}
[[nodiscard]] inline DatOption deadline_of(std::chrono::milliseconds deadline) {
  return [=](DatCase& one) { one.deadline = deadline; };
}
inline const DatOption with_hostile_handles = [](DatCase& one) { one.hostile = true; };

#define calls(...)                                                       \
  ::suite::cases::dat::DatOption([](::suite::cases::dat::DatCase& one) { \
    ::suite::cases::dat::append_calls(one, #__VA_ARGS__);                \
  })

/// `names`: separated by commas.
void append_calls(DatCase& one, std::string_view names);

template <typename... Options>
[[nodiscard]] DatCase dat_case(std::string_view file, std::string_view slug,
                               std::string_view source, int line, const Options&... options) {
  static_assert((std::is_same_v<Options, DatRules> || ...),
                "a case says what it judges: rules(\"...\")");
  DatCase one;
  one.id = fmt::format("dat.{}.{}", file, slug);
  one.title = slug;
  for (char& each : one.title)
    if (each == '_') each = ' ';
  const std::size_t root = source.rfind("suite/cases/");
  one.file =
      fmt::format("{}:{}", root == std::string_view::npos ? source : source.substr(root), line);
  (options(one), ...);
  return one;
}

// ---------------------------------------------------------------- the table of one file

namespace {  // each file counts its own cases
constexpr int counter_before_dat_cases = __COUNTER__;
template <int Number>
struct NumberedDatCase;  // specialised by DAT_CASE

template <int First, int... Offsets>
[[nodiscard]] std::vector<DatCase> dat_table_of(std::string_view file,
                                                std::integer_sequence<int, Offsets...>) {
  std::vector<DatCase> table;
  const auto append = [&]<int Number>() {
    if constexpr (requires { typename NumberedDatCase<Number>::Type; }) {
      using Type = typename NumberedDatCase<Number>::Type;
      table.push_back(Type::describe(file));
      table.back().run = [](DatContext& context) { Type(context).body(); };
    }
  };
  (append.template operator()<First + Offsets>(), ...);
  return table;
}
}  // namespace

}  // namespace suite::cases::dat

/// One case. The arguments behind the slug are options: calls(...), rules(...) always,
/// deadline_of(...), with_hostile_handles.
#define DAT_CASE(name, ...) DAT_CASE_NUMBERED(name, __COUNTER__, __VA_ARGS__)
#define DAT_CASE_NUMBERED(name, number, ...)                         \
  namespace {                                                        \
  struct name final : DatBody {                                      \
    using DatBody::DatBody;                                          \
    [[nodiscard]] static DatCase describe(std::string_view file) {   \
      return dat_case(file, #name, __FILE__, __LINE__, __VA_ARGS__); \
    }                                                                \
    void body();                                                     \
  };                                                                 \
  template <>                                                        \
  struct NumberedDatCase<number> {                                   \
    using Type = name;                                               \
  };                                                                 \
  }                                                                  \
  void name::body()

/// The last line of a file: defines `dat_<file>()`, which dat_table.cpp lists.
#define DAT_CASES_OF_FILE(file)                                                                \
  std::vector<DatCase> dat_##file() {                                                          \
    return dat_table_of<counter_before_dat_cases + 1>(                                         \
        #file, std::make_integer_sequence<int, __COUNTER__ - counter_before_dat_cases - 1>{}); \
  }
