// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A capture file in the classic pcap format with nanosecond time stamps, made in memory, whole or
// frame by frame.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dissectors/capture/capture_reader.hpp"

namespace dissectors::capture {

/// The header of a pcap file.
[[nodiscard]] std::vector<std::byte> pcap_header(LinkType link);
/// Appends one frame's record.
void append_pcap_frame(std::vector<std::byte>& file, const FrameView& frame);
/// The octets of a pcap file holding these frames in this order (frame numbers count from 1).
[[nodiscard]] std::vector<std::byte> pcap_file(LinkType link, std::span<const Frame> frames);

}  // namespace dissectors::capture
