// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A capture file in the classic pcap format with nanosecond time stamps, made in memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dissectors/capture/frame.hpp"

namespace dissectors::capture {

/// The octets of a pcap file holding these frames in this order (frame numbers count from 1).
[[nodiscard]] std::vector<std::byte> pcap_file(LinkType link, std::span<const Frame> frames);

}  // namespace dissectors::capture
