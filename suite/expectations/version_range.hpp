// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The versions of an IUT in which a known issue was seen: `any`, or `kernel >= 6.1, kernel < 6.13`.
#pragma once

#include <compare>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace suite::expectations {

/// The versions that an IUT reports; empty if it reports none.
struct Versions {
  std::string kernel, firmware, driver_version;
};

/// Orders dotted numbers as people do: 6.1 < 6.1.140 < 6.12; what follows the first character that
/// is neither digit nor dot is ignored.
[[nodiscard]] std::strong_ordering compare_versions(std::string_view left, std::string_view right);

class VersionRange {
 public:
  /// The error is a phrase that names the faulty word.
  [[nodiscard]] static std::expected<VersionRange, std::string> parse(std::string_view text);
  [[nodiscard]] bool holds(const Versions& versions) const;

 private:
  enum class Relation : std::uint8_t { equal, less, at_most, more, at_least };
  struct Condition {
    std::string Versions::* field;
    Relation relation;
    std::string version;
  };
  [[nodiscard]] static std::expected<Condition, std::string> parse_condition(std::string_view text);
  [[nodiscard]] static bool holds(const Condition& condition, const Versions& versions);

  std::vector<Condition> conditions_;  ///< all must hold; none: any version
};

}  // namespace suite::expectations
