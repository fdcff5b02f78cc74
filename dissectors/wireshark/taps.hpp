// SPDX-License-Identifier: GPL-2.0-or-later
// Statistics: operations, octets, response times, violations by rule.
#pragma once

#include "dissectors/wireshark/canvas.hpp"

namespace dissectors::wireshark {

/// Registers all statistics under the name of the protocol: `tshark -z rnic_iwarp,tree` and those of
/// tables.hpp and follow.hpp.
void register_taps(int protocol);
/// Gives a frame to the statistics that are open. They take it when its dissection ends.
void count(const Canvas& canvas, const FrameFacts& facts);

}  // namespace dissectors::wireshark
