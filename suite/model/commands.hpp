// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the consumer of the IUT requests, and what happens to its send queue (RFC 5040 section 5.5).
#pragma once

#include "suite/model/state.hpp"

namespace suite::model {

/// The command has been executed, as the reply says.
void perform(State& state, const iut::Command& command, const iut::Reply& reply);

/// What work does that needs nothing on the wire: a bind, or an invalidation.
void do_local_work(State& state, std::size_t stream, Work& work);
/// It is done as soon as its turn has come.
void run_local_work(State& state, std::size_t stream);
/// The same for a stream that has ended: no text says whether work that has waited is done then. False:
/// there is none.
bool run_late_local_work(State& state, std::size_t stream);

/// Whether the message of the first unsent work may be sent now: a fence is kept, and no more Reads
/// are open than the ORD allows.
[[nodiscard]] bool may_leave(const Stream& stream, const Work& work);
/// Whether it also must be sent: the RFCs let it wait for nothing else.
[[nodiscard]] bool has_to_leave(const Stream& stream, const Work& work);
/// It is done, or was before the connection was lost, which cannot be seen.
[[nodiscard]] bool may_be_done(const Stream& stream, const Work& work);
/// The first work that has not been sent.
[[nodiscard]] const Work* next_to_leave(const Stream& stream);
[[nodiscard]] Work* next_to_leave(Stream& stream);

}  // namespace suite::model
