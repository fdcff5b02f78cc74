// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The tables of the deviants of an RNIC and of a connection manager, one for each file.
#pragma once

#include <array>

#include "reference_rnic/access/decisions.hpp"
#include "reference_rnic/deviants/table.hpp"
#include "reference_rnic/verbs/decisions.hpp"

namespace rnic::deviants {

using RnicRow = Row<verbs::Decisions>;
using ConnectionRow = Row<access::Decisions>;
template <class Deviant>
[[nodiscard]] constexpr RnicRow rnic_row(Deviation deviation) {
  return row<verbs::Decisions, Deviant>(deviation);
}
template <class Deviant>
[[nodiscard]] constexpr ConnectionRow connection_row(Deviation deviation) {
  return row<access::Decisions, Deviant>(deviation);
}

[[nodiscard]] std::span<const RnicRow> stag_deviants();
[[nodiscard]] std::span<const RnicRow> queue_pair_deviants();
[[nodiscard]] std::span<const RnicRow> completion_deviants();
[[nodiscard]] std::span<const RnicRow> registration_deviants();
[[nodiscard]] std::span<const ConnectionRow> connection_deviants();

/// All those of an RNIC.
[[nodiscard]] inline auto rnic_tables() {
  return std::array{stag_deviants(), queue_pair_deviants(), completion_deviants(),
                    registration_deviants()};
}

}  // namespace rnic::deviants
