// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The RDMAP headers after that of DDP: Read Request (RFC 5040 section 4.4), Atomics and Immediate
// Data (RFC 7306). All other messages have none.
#pragma once

#include <string>

#include "reference_rnic/wire/bytes.hpp"

namespace rnic::wire {

/// RFC 5040 Figure 6. The sink is where the Read Response goes, the source where it comes from.
struct ReadRequestHeader {
  be32 sink_stag{};
  be64 sink_offset{};
  be32 length{};  ///< octets to be read
  be32 source_stag{};
  be64 source_offset{};
};
static_assert(sizeof(ReadRequestHeader) == 28 && WireStruct<ReadRequestHeader>);

/// Atomic operation codes (RFC 7306 section 5.2.1): the low four bits of the first word.
enum class AtomicOperation : std::uint8_t { fetch_add = 0x0, compare_swap = 0x2 };

/// RFC 7306 Figure 4.
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

/// RFC 7306 Figure 6: 12 octets, where section 4 speaks of 32.
struct AtomicResponseHeader {
  be32 original_request_id{};  ///< the request_id of the Atomic Request
  be64 original_data{};        ///< the contents of memory before the operation
};
static_assert(sizeof(AtomicResponseHeader) == 12 && WireStruct<AtomicResponseHeader>);

/// Octets of Immediate Data in either of its messages, no more and no fewer (RFC 7306 section 6.3).
inline constexpr std::size_t immediate_size = 8;

/// `sink 0x00000abc+0x2000 source 0x00000def+0x3000 length=16`, each as STag+offset.
[[nodiscard]] std::string describe(const ReadRequestHeader& header);
/// `FetchAdd id=0x1 0x00000abc+0x8 add=0x5/0xffffffffffffffff`, each value with its mask.
[[nodiscard]] std::string describe(const AtomicRequestHeader& header);
/// `id=0x1 original=0x5`
[[nodiscard]] std::string describe(const AtomicResponseHeader& header);

}  // namespace rnic::wire
