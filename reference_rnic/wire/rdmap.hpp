// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The RDMAP headers behind DDP's: Read Request (RFC 5040 section 4.4), Atomics and Immediate Data
// (RFC 7306).
#pragma once

#include <string>

#include "reference_rnic/wire/bytes.hpp"

namespace rnic::wire {

struct ReadRequestHeader {
  be32 sink_stag{};
  be64 sink_offset{};
  be32 length{};
  be32 source_stag{};
  be64 source_offset{};
};
static_assert(sizeof(ReadRequestHeader) == 28 && WireStruct<ReadRequestHeader>);

/// Atomic operation codes (RFC 7306 section 5.2.1): the low four bits of the first word.
enum class AtomicOperation : std::uint8_t { fetch_add = 0x0, compare_swap = 0x2 };

struct AtomicRequestHeader {
  be32 operation{};  ///< 28 reserved bits, then AOpCode
  be32 request_id{};
  be32 remote_stag{};
  be64 remote_offset{};
  be64 add_or_swap_data{};
  be64 add_or_swap_mask{};
  be64 compare_data{};
  be64 compare_mask{};
};
static_assert(sizeof(AtomicRequestHeader) == 52 && WireStruct<AtomicRequestHeader>);

struct AtomicResponseHeader {
  be32 original_request_id{};
  be64 original_data{};
};
static_assert(sizeof(AtomicResponseHeader) == 12 && WireStruct<AtomicResponseHeader>);

inline constexpr std::size_t immediate_size =
    8;  ///< RFC 7306 section 6: exactly eight octets of Immediate Data

[[nodiscard]] std::string describe(const ReadRequestHeader& header);
[[nodiscard]] std::string describe(const AtomicRequestHeader& header);
[[nodiscard]] std::string describe(const AtomicResponseHeader& header);

}  // namespace rnic::wire
