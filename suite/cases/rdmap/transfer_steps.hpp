// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Steps that the files of transfers share: one transfer of each kind between the IUT and a partner,
// checked octet for octet.
#pragma once

#include "suite/cases/framework/body.hpp"

namespace suite::cases {

/// Payload sizes around those at which segments, pages and pads begin. `full` octets of payload
/// fill a segment of the partner, and of the IUT if both measure TCP segments in the same way.
[[nodiscard]] std::vector<std::size_t> sizes_around_segments(const StreamPeer& partner);

/// Connects, and shows that the IUT finds the FPDU after another one, also where CRC fields are
/// unused or Markers come: if not, no transfer shows anything of the layers above. An IUT may refuse
/// all work after the first FPDU, so the receives come before it.
StreamPeer& connect_and_find_fpdus(Body& test, const Partner& terms = {});
/// The partner sends `data`, and a receive (with spare room, or none) gets it.
void send_to_iut(Body& test, StreamPeer& partner, const Octets& data);
/// The IUT sends it, and the partner's consumer gets it.
void send_from_iut(Body& test, StreamPeer& partner, const Octets& data);
/// The partner writes it across a page boundary of the IUT's memory.
void write_to_iut(Body& test, StreamPeer& partner, const Octets& data);
/// The IUT writes it to the partner's buffer, and no other octet.
void write_from_iut(Body& test, StreamPeer& partner, const Octets& data);
/// The partner reads it from the IUT's memory.
void read_from_iut(Body& test, StreamPeer& partner, const Octets& data);
/// The IUT reads it from the partner's buffer.
void read_by_iut(Body& test, StreamPeer& partner, const Octets& data);
/// Each of these in turn, for all the sizes.
void transfer_everything(Body& test, StreamPeer& partner);

/// The partner, which holds everything back, continues once a Send has arrived after a Read
/// Request: what was posted between the two has been sent by the IUT, and the Read is not answered.
/// An IUT may keep its work back until a Read is answered; it gets a quarter of the remaining time.
void go_on_behind_a_read_and_a_send(Body& test, StreamPeer& partner);
/// All of the work completes successfully, in any order; returns that order.
std::vector<iut::CompletionEvent> expect_all(Body& test, const std::vector<Work>& works,
                                             const RuleRef& rule);
/// The order is the one in which the work was posted.
void expect_order(Body& test, const std::vector<iut::CompletionEvent>& came,
                  const std::vector<Work>& posted, const RuleRef& rule);

}  // namespace suite::cases
