// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which deviant implements which deviation: one table for each file of deviants.
#pragma once

#include <memory>
#include <span>

#include "reference_rnic/deviants/deviation.hpp"
#include "reference_rnic/stream/decision_chain.hpp"

namespace rnic::deviants {

/// A deviation and the factory of its deviant. `Decisions`: those of the layer in which it is
/// wrong.
template <class Decisions>
struct Row {
  Deviation deviation;
  std::unique_ptr<Decisions> (*make)();
};

/// The row for a kind of deviant.
template <class Decisions, class Deviant>
[[nodiscard]] constexpr Row<Decisions> row(Deviation deviation) {
  return {deviation, []() -> std::unique_ptr<Decisions> { return std::make_unique<Deviant>(); }};
}

/// Adds the deviant of `deviation` to the chain, if it is one of this table.
template <class Decisions>
void add(stream::DecisionChain<Decisions>& chain, std::span<const Row<Decisions>> table,
         Deviation deviation) {
  for (const Row<Decisions>& entry : table)
    if (entry.deviation == deviation)
      chain.add(static_cast<std::uint32_t>(deviation), entry.make());
}

}  // namespace rnic::deviants
