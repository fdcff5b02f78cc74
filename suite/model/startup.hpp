// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the enhanced words of Request and Reply negotiate: depths and RTR indications (RFC 6581 section
// 9).
#pragma once

#include <optional>
#include <vector>

#include "reference_rnic/wire/ddp.hpp"
#include "reference_rnic/wire/mpa_frame.hpp"
#include "suite/model/finding.hpp"

namespace suite::model {

namespace wire = rnic::wire;
using EnhancedWords = wire::EnhancedWords::Values;

/// Of one side of a stream.
struct Depths {
  /// Reads that it serves at a time.
  std::uint32_t ird = 0;
  /// Reads that it may have open at a time, and how many of them it must not hold back.
  std::uint32_t ord = 0, ord_due = 0;
  /// By which the ORD is what it is.
  std::vector<RuleId> rules{};
};

/// The Words of both frames; none where a frame is not enhanced. `own`: what the consumer of the IUT
/// has asked for.
[[nodiscard]] Depths depths_of_responder(const Depths& own,
                                         const std::optional<EnhancedWords>& request,
                                         const std::optional<EnhancedWords>& reply);
[[nodiscard]] Depths depths_of_initiator(const Depths& own,
                                         const std::optional<EnhancedWords>& request,
                                         const std::optional<EnhancedWords>& reply);

/// The kinds of RTR indications that both frames name, as the opcodes that make them.
[[nodiscard]] std::vector<wire::Opcode> common_rtr_kinds(const EnhancedWords& request,
                                                         const EnhancedWords& reply);

}  // namespace suite::model
