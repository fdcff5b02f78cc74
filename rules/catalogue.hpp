// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The rule catalogue for C++: every rule of the RFCs by id, checked at compile time where an id is
// written in code.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rules {

enum class Level : std::uint8_t { must, should, may };

/// How a rule can be checked: by a peer on the wire, by looking at a capture, at the local API
/// only, or not from outside.
enum class Check : std::uint8_t { active, passive, api, none };

/// What Rule::rfc says of a rule of the DAT API, of one of the man pages of libibverbs and
/// librdmacm, of one of the Linux kernel's verbs, and of one that only kDAPL has.
inline constexpr int dat_document = 0, verbs_document = 1, kernel_document = 2, kdat_document = 3;

struct Rule {
  std::string_view id;       ///< never changes, e.g. `mpa.startup.reserved-bits-ignored`
  int rfc;                   ///< e.g. 5044; or one of the documents below, whose sections are calls
  std::string_view section;  ///< e.g. `7.1.1`
  Level level;
  Check check;
  std::string_view binds;  ///< who must obey, e.g. `receiver`
  std::string_view text;   ///< the obligation in our words
  /// The lower layer without which it cannot be checked: `sctp`, which no link of this suite has;
  /// else empty.
  std::string_view needs{};
  /// Why it, or which part of it, cannot be checked from outside; empty: all of it can.
  std::string_view reason{};
  /// The words of the RFC that it is made of, `[...]` for words left out; empty: none are quoted.
  std::string_view quote{};
};

/// All rules, sorted by id.
[[nodiscard]] std::span<const Rule> all();
/// The rule with this id, or nullptr.
[[nodiscard]] const Rule* find(std::string_view id);
[[nodiscard]] constexpr bool is_of_an_rfc(const Rule& rule) { return rule.rfc > kdat_document; }
/// The document's name: `RFC 5044`, `DAT 2.0`, `kDAPL 2.0`, `verbs`, `kernel verbs`.
[[nodiscard]] std::string document_name(int rfc);
/// The rule's place, for people: `RFC 5044 section 7.1.1`, `DAT 2.0 dat_ep_connect`, `man page
/// ibv_poll_cq(3)`.
[[nodiscard]] std::string place(const Rule& rule);
/// Where its section can be read; empty where it is no RFC's.
[[nodiscard]] std::string href(const Rule& rule);
/// A short digest (16 hex digits) of the rule files: two runs with the same one used the same
/// catalogue.
[[nodiscard]] std::string_view version();

[[nodiscard]] constexpr std::string_view name(Level level) {
  switch (level) {
    case Level::must:
      return "must";
    case Level::should:
      return "should";
    case Level::may:
      return "may";
  }
  return "?";
}
[[nodiscard]] constexpr std::string_view name(Check check) {
  switch (check) {
    case Check::active:
      return "active";
    case Check::passive:
      return "passive";
    case Check::api:
      return "api";
    case Check::none:
      return "none";
  }
  return "?";
}

/// Whether a tester on these links can check it, from outside.
[[nodiscard]] constexpr bool is_testable(const Rule& rule) {
  return rule.check != Check::none && rule.needs.empty();
}
/// How it is checked here, in one word.
[[nodiscard]] constexpr std::string_view how_checked(const Rule& rule) {
  return rule.needs == "sctp" ? "needs-sctp" : name(rule.check);
}

}  // namespace rules
