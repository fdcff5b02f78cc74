// SPDX-License-Identifier: GPL-2.0-or-later
// What Wireshark's packet details show of a frame: its connection, MPA frames, FPDUs.
#pragma once

#include "dissectors/wireshark/canvas.hpp"

namespace dissectors::wireshark {

/// Role, negotiated options.
void show_connection(const Canvas& canvas, const FrameFacts& facts);
void show_mpa_frame(const Canvas& canvas, const MpaFrameFact& fact);
void show_fpdu(const Canvas& canvas, const FpduFact& fact);
/// A message of several FPDUs.
void show_joined(const Sketch& payload, const MessageFact& fact);
/// DDP and RDMAP: the contents of a ULPDU.
void show_ulpdu(const Sketch& ulpdu);
/// The frame in one line.
[[nodiscard]] std::string summary_of(analyzer::Bytes octets, const MpaFrameFact& fact);

}  // namespace dissectors::wireshark
