// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a network does to TCP segments, done by the sender's host: loss, segments out of turn,
// repetitions; and what it reports of the path.
//
// The kernel's repair mode lets a socket treat octets as sent that were never sent, and shows or
// takes its sequence numbers; a raw socket sends segments that TCP does not know of. Both need
// rights over the socket's network namespace (CAP_NET_ADMIN, CAP_NET_RAW).
#pragma once

#include <cstdint>

#include "reference_rnic/llp/network.hpp"
#include "reference_rnic/wire/bytes.hpp"

namespace rnic::llp {

/// Whether this host may do the following with the connected socket `fd`.
[[nodiscard]] bool can_disturb(int fd);
/// TCP treats these octets as sent, and repeats them when no acknowledgement arrives.
[[nodiscard]] bool send_lost(int fd, wire::Bytes octets);
/// One segment of these octets, at `offset` from the next sequence number of the socket.
[[nodiscard]] bool inject_segment(int fd, std::int64_t offset, wire::Bytes octets, Ecn ecn);
/// The first octet that `fd`, which is not connected yet, will send has this sequence number.
[[nodiscard]] bool choose_first_number(int fd, std::uint32_t number);
/// Tells the peer, as a router on the way would, that its segments may have so many octets of data
/// and no more (RFC 1191). IPv4 only. The peer's host takes it for true of all that goes to our
/// address.
[[nodiscard]] bool announce_path_mtu(int fd, std::size_t emss);

}  // namespace rnic::llp
