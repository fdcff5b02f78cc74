// SPDX-License-Identifier: GPL-2.0-or-later
// Statistics that Wireshark has for every protocol: conversations, endpoints, service response
// times.
#pragma once

#include "dissectors/wireshark/canvas.hpp"

namespace dissectors::wireshark {

/// Registers them under the name of the protocol (`tshark -z conv,rnic_iwarp`,
/// `-z endpoints,rnic_iwarp`, `-z rnic_iwarp,srt`). Their tap is that of the protocol, and its data
/// a FrameFacts.
void register_tables(int protocol);

}  // namespace dissectors::wireshark
