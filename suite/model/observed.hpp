// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whether one state explains what the IUT is seen to do; if it does, it is advanced.
#pragma once

#include <expected>

#include "suite/model/coverage.hpp"
#include "suite/model/state.hpp"

namespace suite::model {

/// An RDMAP message of the IUT, reassembled from its segments.
struct SeenMessage {
  wire::Opcode opcode = wire::Opcode::send;
  bool tagged = false;
  std::uint32_t stag = 0;
  std::uint64_t offset = 0;
  std::uint32_t ulp_word = 0;
  Octets payload;
  /// Of a Terminate, if it can be read.
  std::optional<wire::TerminateCause> cause{};
  /// The stream ended before its last segment.
  bool cut_off = false;
};
/// The IUT's FIN, or its reset.
struct SeenClose {};
struct SeenReset {};
using SeenOnWire = std::variant<SeenMessage, SeenClose, SeenReset>;

using Explained = std::expected<void, Contradiction>;

[[nodiscard]] inline std::unexpected<Contradiction> contradiction(std::vector<RuleId> rules,
                                                                  std::string admissible) {
  return std::unexpected(Contradiction{std::move(rules), std::move(admissible)});
}

/// What else explaining may find: advisories.
struct Watch {
  Coverage& coverage;
  std::vector<Finding>& advisories;
};

[[nodiscard]] Explained explain(State& state, std::size_t stream, const SeenOnWire& seen,
                                const Watch& watch);
[[nodiscard]] Explained explain(State& state, std::size_t stream,
                                const iut::CompletionEvent& completion, const Watch& watch);
[[nodiscard]] Explained explain(State& state, std::size_t stream, const iut::DisconnectedEvent&,
                                const Watch& watch);
[[nodiscard]] Explained explain(State& state, std::size_t stream, const iut::AsynchronousEvent&,
                                const Watch& watch);
/// A shared queue has fewer receives than the limit that the consumer has set.
[[nodiscard]] Explained explain_low(State& state, const Watch& watch);
/// The part of explain() for messages.
[[nodiscard]] Explained explain_message(State& state, std::size_t stream, const SeenMessage& seen,
                                        const Watch& watch);
/// Explains what the IUT's own CPU reads in memory.
[[nodiscard]] Explained explain(const State& state, iut::Handle region, const Octets& octets);

}  // namespace suite::model
