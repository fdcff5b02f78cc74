// SPDX-License-Identifier: GPL-2.0-or-later
// Passes messages to Wireshark's dissectors of the protocols above RDMAP: SMB Direct, RPC over
// RDMA, iSER, NVMe.
#pragma once

#include "dissectors/wireshark/canvas.hpp"

namespace dissectors::wireshark {

/// To be called when all dissectors are registered.
void find_upper_layers();
/// Shows the message's payload as decoded by the first of them that recognises it, if any. They are
/// called even if nothing is displayed, since the meaning of later messages may depend on this one.
void hand_on(const Canvas& frame, const FrameFacts& facts, const MessageFact& message,
             const Sketch& payload);

}  // namespace dissectors::wireshark
