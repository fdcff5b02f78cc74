// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Takes payload and addresses out of a capture, so that it can be shown to others, and proves that
// the judge finds the same in what is left.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace dissectors::scrub {

struct Scrubbed {
  std::vector<std::byte> file;  ///< a pcap, with as many frames as the capture
  std::uint64_t frames = 0, segments = 0, connections = 0, addresses = 0, findings = 0;
};

/// The capture is read several times, so it cannot be standard input. `ports`: connections with these
/// are iWARP, whatever fits (as in rnic-lint). The error is one line: the capture cannot be read, or the
/// judge finds something else in the result.
[[nodiscard]] std::expected<Scrubbed, std::string> scrub(const std::string& capture,
                                                         const std::vector<std::uint16_t>& ports);

}  // namespace dissectors::scrub
