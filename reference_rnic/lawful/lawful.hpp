// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Lawful variants: every permission of the RFCs that the reference RNIC can be made to use.
//
// The counterpart of deviations (reference_rnic/deviants): with any set of variants the RNIC
// conforms, so no case may fail. `lawful.def` lists them all, one line each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

namespace rnic::lawful {

enum class Lawful : std::uint16_t {
#define RNIC_LAWFUL(enumerator, rule, dispute, text) enumerator,
#include "reference_rnic/lawful/lawful.def"
#undef RNIC_LAWFUL
};

inline constexpr std::size_t lawful_count =
    std::initializer_list<Lawful>{
#define RNIC_LAWFUL(enumerator, rule, dispute, text) Lawful::enumerator,
#include "reference_rnic/lawful/lawful.def"
#undef RNIC_LAWFUL
    }
        .size();

struct LawfulInfo {
  Lawful lawful;
  std::string_view name;     ///< the enumerator
  std::string_view rule;     ///< id of the rule that gives the permission, or leaves it open
  std::string_view dispute;  ///< number in docs/disputes.md; empty: the rule says it all
  std::string_view text;     ///< what it does, one line
};
/// All variants in enumeration order.
[[nodiscard]] std::span<const LawfulInfo> lawful_variants();
[[nodiscard]] const LawfulInfo& info(Lawful lawful);
[[nodiscard]] std::optional<Lawful> find_lawful(std::string_view name);

}  // namespace rnic::lawful
