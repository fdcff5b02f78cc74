// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The rules of work requests in any RNIC: their form, their kind on the stream, their completion
// status.
#pragma once

#include <optional>

#include "reference_rnic/verbs/rnic.hpp"

namespace rnic::verbs {

[[nodiscard]] stream::WorkKind work_kind(Operation operation);
[[nodiscard]] bool is_send(Operation operation);
[[nodiscard]] bool is_solicited(Operation operation);
[[nodiscard]] bool is_solicited(wire::Opcode opcode);
[[nodiscard]] bool carries_invalidate(Operation operation);
[[nodiscard]] std::uint64_t total_length(const Pieces& pieces);
[[nodiscard]] std::uint64_t total_length(const stream::GatherList& octets);
/// Why a request can never be executed, whatever the state.
[[nodiscard]] std::optional<Error> fault_in(const SendRequest& request, std::uint32_t max_pieces,
                                            std::uint32_t max_inline);
[[nodiscard]] std::optional<Error> fault_in(const ReceiveRequest& request,
                                            std::uint32_t max_pieces);
[[nodiscard]] Status status_of(stream::WorkStatus status);
/// Which asynchronous event a fault on the stream is.
[[nodiscard]] AsyncKind fault_kind(wire::TerminateCause cause);

}  // namespace rnic::verbs
