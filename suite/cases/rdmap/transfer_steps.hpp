// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Steps that the files of transfers share: one transfer of each kind between the IUT and a partner,
// checked octet for octet.
#pragma once

#include "suite/cases/framework/body.hpp"

namespace suite::cases {

/// Payload sizes around which segments, pages and pads begin anew. `full` octets of payload fill a
/// segment of the partner's, and of the IUT's if both measure TCP segments alike.
[[nodiscard]] std::vector<std::size_t> sizes_around_segments(const StreamPeer& partner);

/// The partner sends it, and a receive (with room to spare, or none) gets it.
void send_to_iut(Body& test, StreamPeer& partner, const Octets& data);
/// The IUT sends it, and the partner's consumer gets it.
void send_from_iut(Body& test, StreamPeer& partner, const Octets& data);
/// The partner writes it across a page boundary of the IUT's memory.
void write_to_iut(Body& test, StreamPeer& partner, const Octets& data);
/// The IUT writes it to the partner's buffer, and no octet beside.
void write_from_iut(Body& test, StreamPeer& partner, const Octets& data);
/// The partner reads it out of the IUT's memory.
void read_from_iut(Body& test, StreamPeer& partner, const Octets& data);
/// The IUT reads it out of the partner's buffer.
void read_by_iut(Body& test, StreamPeer& partner, const Octets& data);
/// Each of these in turn, for all the sizes.
void transfer_everything(Body& test, StreamPeer& partner);

/// The partner, which holds everything back, goes on once a Send has come behind a Read Request:
/// what was posted between the two has left the IUT, and the Read is not answered. An IUT that
/// keeps its work back until a Read is answered may do so; it gets a quarter of the time left.
void go_on_behind_a_read_and_a_send(Body& test, StreamPeer& partner);
/// All of the work completes with success, in whatever order, which it yields.
std::vector<iut::CompletionEvent> expect_all(Body& test, const std::vector<Work>& works,
                                             const RuleRef& rule);
/// That order is the one in which the work was posted.
void expect_order(Body& test, const std::vector<iut::CompletionEvent>& came,
                  const std::vector<Work>& posted, const RuleRef& rule);

}  // namespace suite::cases
