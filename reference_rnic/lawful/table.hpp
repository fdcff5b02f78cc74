// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which member of a decision chain implements which lawful variant: one table for each file.
#pragma once

#include <memory>
#include <span>

#include "reference_rnic/access/decisions.hpp"
#include "reference_rnic/lawful/lawful.hpp"
#include "reference_rnic/stream/decisions.hpp"
#include "reference_rnic/verbs/decisions.hpp"

namespace rnic::lawful {

/// `Decisions`: those of the layer that the variant belongs to.
template <class Decisions>
struct Row {
  Lawful lawful;
  std::unique_ptr<Decisions> (*make)();
};

template <class Decisions, class Variant>
[[nodiscard]] constexpr Row<Decisions> row(Lawful lawful) {
  return {lawful, []() -> std::unique_ptr<Decisions> { return std::make_unique<Variant>(); }};
}

[[nodiscard]] std::span<const Row<stream::Decisions>> startup_variants();
[[nodiscard]] std::span<const Row<stream::Decisions>> framing_variants();
[[nodiscard]] std::span<const Row<stream::Decisions>> message_variants();
[[nodiscard]] std::span<const Row<stream::Decisions>> terminate_variants();
[[nodiscard]] std::span<const Row<access::Decisions>> connection_variants();
[[nodiscard]] std::span<const Row<verbs::Decisions>> queue_variants();

}  // namespace rnic::lawful
