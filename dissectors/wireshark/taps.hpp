// SPDX-License-Identifier: GPL-2.0-or-later
// Statistics: operations, octets, response times, violations by rule.
#pragma once

#include <epan/packet.h>

#include "dissectors/wireshark/frame_facts.hpp"

namespace dissectors::wireshark {

/// Registers the statistics under the name of the protocol: `tshark -z rnic_iwarp,tree`.
void register_tap_and_statistics();
/// Gives a frame to the statistics that are open.
void count(packet_info* packet, const Events& events);

}  // namespace dissectors::wireshark
