// SPDX-License-Identifier: GPL-2.0-or-later
// What the consumers of RDMAP sent each other, to be followed as Wireshark follows a TCP stream.
#pragma once

#include "dissectors/wireshark/canvas.hpp"

namespace dissectors::wireshark {

/// Registers it as `tshark -z follow,rnic_iwarp,MODE,CONNECTION`.
void register_follow(int protocol);
/// Gives the payloads of a frame to whoever follows its connection.
void follow(const Canvas& canvas, const FrameFacts& facts);

}  // namespace dissectors::wireshark
