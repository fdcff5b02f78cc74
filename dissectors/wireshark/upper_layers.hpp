// SPDX-License-Identifier: GPL-2.0-or-later
// Hands messages on to Wireshark's dissectors of what lies above RDMAP: SMB Direct, RPC over RDMA, iSER,
// NVMe.
#pragma once

#include "dissectors/wireshark/canvas.hpp"

namespace dissectors::wireshark {

/// To be called when all dissectors are registered.
void find_upper_layers();
/// Shows the message's payload as one of them understands it, if one does; each is asked, also if
/// nobody looks, since what later messages mean may depend on this one.
void hand_on(const Canvas& frame, const FrameFacts& facts, const MessageFact& message,
             const Sketch& payload);

}  // namespace dissectors::wireshark
