// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The Read Requests that the tester sends when the IUT is the Data Source.
#pragma once

#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

inline constexpr std::uint32_t sink_stag = 0xCAFEBABE;
inline constexpr std::uint64_t sink_offset = 0x123456789;

/// A Request for `length` octets at `offset` of the region.
[[nodiscard]] inline Outgoing read_from(const Region& region, std::uint64_t offset,
                                        std::uint32_t length) {
  return read_request({.sink_stag = sink_stag,
                       .sink_offset = sink_offset,
                       .length = length,
                       .source_stag = region.stag,
                       .source_offset = region.base + offset});
}

}  // namespace suite::cases
