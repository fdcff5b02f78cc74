// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations: every way in which the reference RNIC can be made to break one rule.
//
// A deviation follows the RFC, never a case. `deviations.def` lists them all, one line each:
// enumerator, rule id, what it does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

namespace rnic::deviants {

enum class Deviation : std::uint16_t {
#define RNIC_DEVIATION(enumerator, rule, text) enumerator,
#include "reference_rnic/deviants/deviations.def"
#undef RNIC_DEVIATION
};

inline constexpr std::size_t deviation_count =
    std::initializer_list<Deviation>{
#define RNIC_DEVIATION(enumerator, rule, text) Deviation::enumerator,
#include "reference_rnic/deviants/deviations.def"
#undef RNIC_DEVIATION
    }
        .size();

struct DeviationInfo {
  Deviation deviation;
  std::string_view name;  ///< the enumerator
  std::string_view rule;  ///< id of the rule that it breaks
  std::string_view text;  ///< what it does, one line
};
/// All deviations in enumeration order.
[[nodiscard]] std::span<const DeviationInfo> deviations();
[[nodiscard]] const DeviationInfo& info(Deviation deviation);
[[nodiscard]] std::optional<Deviation> find_deviation(std::string_view name);

}  // namespace rnic::deviants
