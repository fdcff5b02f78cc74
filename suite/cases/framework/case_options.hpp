// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The head of a case: what follows its name in CONFORMANCE_CASE(...) and DAT_CASE(...).
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "suite/cases/framework/configuration.hpp"
#include "suite/cases/framework/rule_ref.hpp"

namespace suite::cases {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): deadline_of(20s)

/// The role of the IUT on the connection.
enum class Role : std::uint8_t { responder, initiator };

struct CaseOptions {
  std::vector<std::string_view> rules;
  /// Capabilities, see suite::iut::capability.
  std::vector<std::string_view> needs;
  Configuration configuration;
  std::vector<Role> roles{Role::responder};
  bool both_families = false;
  /// For each thing that the case waits for (in DAT, for the case); before the PIXIT's scale.
  std::chrono::nanoseconds deadline = std::chrono::seconds(5);
  /// DAT: the calls whose behaviour is judged, such as `dat_ep_connect`.
  std::vector<std::string_view> calls;
  /// DAT: calls are given handles that no consumer may give, so a crash in the provider is an
  /// advisory.
  bool hostile = false;
};
using CaseOption = std::function<void(CaseOptions&)>;

/// The option that every case needs, and so a type of its own.
struct RulesOption {
  std::array<RuleRef, 8> judged;
  void operator()(CaseOptions& options) const {
    for (const RuleRef& rule : judged)
      if (!rule.id.empty()) options.rules.push_back(rule.id);
  }
};
/// The rules that the case judges, in one or several rules(...). The first one applies to
/// expectations that name no rule.
[[nodiscard]] inline RulesOption rules(RuleRef first, RuleRef second = {}, RuleRef third = {},
                                       RuleRef fourth = {}, RuleRef fifth = {}, RuleRef sixth = {},
                                       RuleRef seventh = {}, RuleRef eighth = {}) {
  return {{first, second, third, fourth, fifth, sixth, seventh, eighth}};
}
/// Capabilities without which the case is not applicable: names of the namespace capability.
template <typename... Names>
[[nodiscard]] CaseOption needs(Names... names) {
  return [=](CaseOptions& options) { (options.needs.push_back(names), ...); };
}
/// The MPA startup behaviour that the IUT must be configured to, e.g. `configured({.crc = false})`.
[[nodiscard]] inline CaseOption configured(Configuration configuration) {
  return [=](CaseOptions& options) { options.configuration = configuration; };
}
/// The IUT as MPA initiator instead of responder.
inline const CaseOption as_initiator = [](CaseOptions& options) {
  options.roles = {Role::initiator};
};
/// The IUT in each role in turn: a second row of the table, `id@initiator`.
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

}  // namespace suite::cases
