// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Atomics: how a Responder carries them out, and how a Requester takes the answers (RFC 7306 section 5).
#pragma once

#include "reference_rnic/wire/rdmap.hpp"
#include "suite/model/arriving.hpp"

namespace suite::model {

/// What FetchAdd or CmpSwap leaves in memory (RFC 7306 sections 5.1.1 and 5.1.2).
[[nodiscard]] std::uint64_t fetch_add(std::uint64_t original, std::uint64_t add,
                                      std::uint64_t mask);
[[nodiscard]] std::uint64_t compare_swap(std::uint64_t original,
                                         const wire::AtomicRequestHeader& request);

/// A Request of these octets is carried out, or refused.
void deliver_atomic_request(const Taking& taking, const State& state, const Octets& octets);
void deliver_atomic_response(const Taking& taking, const State& state, const Octets& octets);
/// The IUT owes this Response; or it is one too many, or cannot be sent.
void owe(const Taking& taking, State state, Response response);

}  // namespace suite::model
