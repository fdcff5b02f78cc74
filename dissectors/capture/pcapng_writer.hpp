// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A capture file in the pcapng format, whose frames may carry comments: one section, one interface,
// little-endian, nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissectors/capture/capture_reader.hpp"

namespace dissectors::capture {

/// The octets of the Section Header and Interface Description Blocks. `application` is the program
/// that writes the file, `comment` describes the file.
[[nodiscard]] std::vector<std::byte> pcapng_header(LinkType link, std::string_view application,
                                                   std::string_view comment);
/// Appends one frame as an Enhanced Packet Block. Each comment is UTF-8; what exceeds 65535 octets
/// of one is cut off.
void append_pcapng_frame(std::vector<std::byte>& file, const FrameView& frame,
                         std::span<const std::string> comments);

}  // namespace dissectors::capture
