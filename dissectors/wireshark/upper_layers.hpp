// SPDX-License-Identifier: GPL-2.0-or-later
// Passes messages to Wireshark's dissectors of the protocols above RDMAP: SMB Direct, RPC over
// RDMA, iSER, NVMe.
#pragma once

#include "dissectors/wireshark/canvas.hpp"

namespace dissectors::wireshark {

/// Keys of what Wireshark keeps of a frame while it shows it (p_add_proto_data).
inline constexpr std::uint32_t connection_key = 0, service_port_key = 1;

/// The port of the connection's responder or, if the roles are not known, the lower one.
[[nodiscard]] std::uint16_t service_port(const analyzer::Connection& connection);
/// Registers Decode As: which dissector gets the messages of a responder's port. To be called with
/// the protocol, whose frames have `service_port_key`.
void register_upper_layers(int protocol);
/// To be called when all dissectors are registered.
void find_upper_layers();
/// Shows the message's payload as decoded by the first of them that recognises it, if any. They are
/// called even if nothing is displayed, since the meaning of later messages may depend on this one.
/// Returns whether one of them did.
bool hand_on(const Canvas& frame, const FrameFacts& facts, const MessageFact& message,
             const Sketch& payload);

}  // namespace dissectors::wireshark
