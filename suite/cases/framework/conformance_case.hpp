// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How a file of cases is written. Include this, write cases, and end the file with CASES_OF_FILE.
//
//   CONFORMANCE_CASE(write_beyond_bounds_is_rejected,
//                    rules("ddp.tagged.check-end-in-range",
//                          "ddp.terminate.tagged-base-or-bounds")) {
//     const Region region = iut.register_memory(4096, access::remote_write);
//     peer.send(rdma_write(region.stag, region.base + 4090, payload(16)));
//     expect_rejection({cause::ddp_tagged_base_or_bounds}, "ddp.tagged.check-end-in-range",
//                      "ddp.terminate.tagged-base-or-bounds");
//     expect(region, unchanged);
//   }
//
//   CASES_OF_FILE(ddp, tagged_validation)
#pragma once

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "suite/cases/framework/body.hpp"

namespace suite::cases {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): deadline_of(20s)

// ---------------------------------------------------------------- options of a case

struct CaseOptions {
  std::vector<std::string_view> rules;
  std::vector<std::string_view> needs;
  Configuration configuration;
  std::vector<Role> roles{Role::responder};
  bool both_families = false;
  std::chrono::nanoseconds deadline = std::chrono::seconds(5);
};
using CaseOption = std::function<void(CaseOptions&)>;

/// The option that no case can do without, and so a type of its own.
struct RulesOption {
  std::array<RuleRef, 8> judged;
  void operator()(CaseOptions& options) const {
    for (const RuleRef& rule : judged)
      if (!rule.id.empty()) options.rules.push_back(rule.id);
  }
};
/// The rules that the case judges, in one rules(...) or several. The first is the one that its
/// expectations mean unless they name another.
[[nodiscard]] inline RulesOption rules(RuleRef first, RuleRef second = {}, RuleRef third = {},
                                       RuleRef fourth = {}, RuleRef fifth = {}, RuleRef sixth = {},
                                       RuleRef seventh = {}, RuleRef eighth = {}) {
  return {{first, second, third, fourth, fifth, sixth, seventh, eighth}};
}
/// Capabilities without which the case is not applicable: names of namespace capability.
template <typename... Names>
[[nodiscard]] CaseOption needs(Names... names) {
  return [=](CaseOptions& options) { (options.needs.push_back(names), ...); };
}
/// The MPA startup behaviour that the IUT must be configured to, e.g. `configured({.crc = false})`.
[[nodiscard]] inline CaseOption configured(Configuration configuration) {
  return [=](CaseOptions& options) { options.configuration = configuration; };
}
/// The IUT as MPA initiator, in place of responder ...
inline const CaseOption as_initiator = [](CaseOptions& options) {
  options.roles = {Role::initiator};
};
/// ... or each in turn: a second row of the table, `id@initiator`.
inline const CaseOption in_both_roles = [](CaseOptions& options) {
  options.roles = {Role::responder, Role::initiator};
};
/// Over IPv6 too: a further row of the table, `id@ipv6`.
inline const CaseOption over_both_families = [](CaseOptions& options) {
  options.both_families = true;
};
[[nodiscard]] inline CaseOption deadline_of(std::chrono::nanoseconds deadline) {
  return [=](CaseOptions& options) { options.deadline = deadline; };
}

template <typename... Options>
[[nodiscard]] CaseOptions case_options(const Options&... options) {
  static_assert((std::is_same_v<Options, RulesOption> || ...),
                "a case says what it judges: rules(\"...\")");
  CaseOptions all;
  (options(all), ...);
  return all;
}

// ---------------------------------------------------------------- the table of one file

/// Appends the rows of one case: one per role, one more for IPv6.
void append_case(std::vector<Case>& table, std::string_view folder, std::string_view file,
                 std::string_view slug, std::string_view source, int line,
                 const CaseOptions& options, const decltype(Case::make)& make);

namespace {  // each file counts its own cases
constexpr int counter_before_cases = __COUNTER__;
template <int Number>
struct NumberedCase;  // specialised by CONFORMANCE_CASE

template <int First, int... Offsets>
[[nodiscard]] std::vector<Case> table_of(std::string_view folder, std::string_view file,
                                         std::integer_sequence<int, Offsets...>) {
  std::vector<Case> table;
  const auto append = [&]<int Number>() {
    if constexpr (requires { typename NumberedCase<Number>::Type; }) {
      using Type = typename NumberedCase<Number>::Type;
      append_case(table, folder, file, Type::slug, Type::source_file, Type::line, Type::options(),
                  [](const Case& a_case, Environment& environment, lower_tester::Context& context,
                     CaseOutcome& outcome) {
                    return std::unique_ptr<Body>(
                        std::make_unique<Type>(a_case, environment, context, outcome));
                  });
    }
  };
  (append.template operator()<First + Offsets>(), ...);
  return table;
}
}  // namespace

}  // namespace suite::cases

#define RNIC_CASE_JOIN(a, b) a##_##b

/// One case. The arguments behind the slug are options: rules(...) always, needs(...),
/// configured(...), in_both_roles, ...
#define CONFORMANCE_CASE(name, ...) RNIC_CASE_NUMBERED(name, __COUNTER__, __VA_ARGS__)
#define RNIC_CASE_NUMBERED(name, number, ...)                                        \
  namespace {                                                                        \
  struct name final : Body {                                                         \
    using Body::Body;                                                                \
    static constexpr std::string_view slug = #name;                                  \
    static constexpr std::string_view source_file = __FILE__;                        \
    static constexpr int line = __LINE__;                                            \
    [[nodiscard]] static CaseOptions options() { return case_options(__VA_ARGS__); } \
    void body() override;                                                            \
  };                                                                                 \
  template <>                                                                        \
  struct NumberedCase<number> {                                                      \
    using Type = name;                                                               \
  };                                                                                 \
  }                                                                                  \
  void name::body()

/// The last line of a file: defines `<folder>_<file>_cases()`, which all_cases.cpp lists.
#define CASES_OF_FILE(folder, file)                                                 \
  std::vector<Case> RNIC_CASE_JOIN(folder, file)() {                                \
    return table_of<counter_before_cases + 1>(                                      \
        #folder, #file,                                                             \
        std::make_integer_sequence<int, __COUNTER__ - counter_before_cases - 1>{}); \
  }
