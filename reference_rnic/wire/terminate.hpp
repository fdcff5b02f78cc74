// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The Terminate Message (RFC 5040 section 4.8) with every layer, type and code of the RFC 6580
// registry.
#pragma once

#include <optional>
#include <string>

#include "reference_rnic/wire/ddp.hpp"
#include "reference_rnic/wire/rdmap.hpp"

namespace rnic::wire {

/// Layer, error type and error code of a Terminate: what went wrong, as one comparable value.
struct TerminateCause {
  std::uint8_t layer = 0;  ///< 4 bits: 0 RDMA, 1 DDP, 2 LLP (MPA)
  std::uint8_t type = 0;   ///< 4 bits
  std::uint8_t code = 0;   ///< 8 bits
  constexpr auto operator<=>(const TerminateCause&) const = default;
};

namespace cause {
// RDMAP (RFC 5040 section 4.8, Figure 9)
inline constexpr TerminateCause rdmap_local_catastrophic{0, 0, 0x00};
inline constexpr TerminateCause rdmap_invalid_stag{0, 1, 0x00};
inline constexpr TerminateCause rdmap_base_or_bounds{0, 1, 0x01};
inline constexpr TerminateCause rdmap_access_rights{0, 1, 0x02};
inline constexpr TerminateCause rdmap_stag_not_associated{0, 1, 0x03};
inline constexpr TerminateCause rdmap_to_wrap{0, 1, 0x04};
inline constexpr TerminateCause rdmap_protection_cannot_invalidate{0, 1, 0x09};
inline constexpr TerminateCause rdmap_protection_unspecified{0, 1, 0xFF};
inline constexpr TerminateCause rdmap_invalid_version{0, 2, 0x05};
inline constexpr TerminateCause rdmap_unexpected_opcode{0, 2, 0x06};
inline constexpr TerminateCause rdmap_catastrophic_stream{0, 2, 0x07};
inline constexpr TerminateCause rdmap_catastrophic_global{0, 2, 0x08};
inline constexpr TerminateCause rdmap_operation_cannot_invalidate{0, 2, 0x09};
inline constexpr TerminateCause rdmap_operation_unspecified{0, 2, 0xFF};
// DDP (RFC 5041 section 7.2)
inline constexpr TerminateCause ddp_local_catastrophic{1, 0, 0x00};
inline constexpr TerminateCause ddp_tagged_invalid_stag{1, 1, 0x00};
inline constexpr TerminateCause ddp_tagged_base_or_bounds{1, 1, 0x01};
inline constexpr TerminateCause ddp_tagged_stag_not_associated{1, 1, 0x02};
inline constexpr TerminateCause ddp_tagged_to_wrap{1, 1, 0x03};
inline constexpr TerminateCause ddp_tagged_invalid_version{1, 1, 0x04};
inline constexpr TerminateCause ddp_untagged_invalid_queue{1, 2, 0x01};
inline constexpr TerminateCause ddp_untagged_no_buffer{1, 2, 0x02};
inline constexpr TerminateCause ddp_untagged_msn_out_of_range{1, 2, 0x03};
inline constexpr TerminateCause ddp_untagged_invalid_offset{1, 2, 0x04};
inline constexpr TerminateCause ddp_untagged_message_too_long{1, 2, 0x05};
inline constexpr TerminateCause ddp_untagged_invalid_version{1, 2, 0x06};
// MPA (RFC 5044 section 8, RFC 6581 section 8)
inline constexpr TerminateCause mpa_connection_lost{2, 0, 0x01};
inline constexpr TerminateCause mpa_crc{2, 0, 0x02};
inline constexpr TerminateCause mpa_marker{2, 0, 0x03};
inline constexpr TerminateCause mpa_invalid_frame{2, 0, 0x04};
inline constexpr TerminateCause mpa_local_catastrophic{2, 0, 0x05};
inline constexpr TerminateCause mpa_insufficient_ird{2, 0, 0x06};
inline constexpr TerminateCause mpa_no_rtr{2, 0, 0x07};
}  // namespace cause

/// The first four octets: Terminate Control (19 bits) and 13 reserved bits.
struct TerminateControl {
  be16 layer_type_code{};  ///< layer:4 type:4 code:8
  be16 header_control{};   ///< M, D, R in the three high bits, the rest reserved
  static constexpr std::uint16_t m = 0x8000, d = 0x4000, r = 0x2000, reserved_mask = 0x1FFF;
};
static_assert(sizeof(TerminateControl) == 4 && WireStruct<TerminateControl>);

struct Terminate {
  TerminateCause cause;
  bool m = false;              ///< DDP Segment Length valid
  bool d = false;              ///< terminated DDP header included
  bool r = false;              ///< terminated RDMA header included
  std::uint16_t reserved = 0;  ///< the 13 bits as they came
  std::optional<std::uint16_t> segment_length;
  Bytes ddp_header;    ///< 14 or 18 octets if D, else empty
  Bytes rdmap_header;  ///< if R: a Read Request header (28 octets), or 52 octets of an Atomic
                       ///< Request; else empty
};

enum class TerminateError : std::uint8_t { truncated, trailing_octets };
/// Parses what follows the untagged DDP header of a Terminate Message. The DDP Segment Length field
/// is taken as present when M or D is set.
[[nodiscard]] std::expected<Terminate, TerminateError> parse_terminate(Bytes payload);
/// The cause alone, of a Terminate that may be torn or too long.
[[nodiscard]] std::expected<TerminateCause, TerminateError> parse_terminate_cause(Bytes payload);
/// Writes the control word and then exactly what `terminate` holds: the length if there is one, the
/// headers if they are not empty. That the flags M, D and R agree with it is up to the caller, so
/// that a tester may also write what no RFC allows.
void format_terminate(Writer& out, const Terminate& terminate);
/// The registry's name of a cause in our words, e.g. `DDP tagged buffer error: base or bounds
/// violation (1/1/0x01)`.
[[nodiscard]] std::string describe(TerminateCause cause);
[[nodiscard]] std::string describe(const Terminate& terminate);
[[nodiscard]] bool is_registered(TerminateCause cause);

}  // namespace rnic::wire
