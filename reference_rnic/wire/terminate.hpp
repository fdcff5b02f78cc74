// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The Terminate Message (RFC 5040 section 4.8) with every layer, type and code of the RFC 6580
// registry.
//
//   Terminate Control: layer, type, code (2) | M D R and 13 reserved bits (2)
//   DDP Segment Length (2), terminated DDP header (14 or 18), terminated RDMA header (28), if any;
//   a peer with Atomics may send back the 52 octets of an Atomic Request as the last
#pragma once

#include <optional>
#include <string>

#include "reference_rnic/wire/ddp.hpp"
#include "reference_rnic/wire/rdmap.hpp"

namespace rnic::wire {

/// Layers of a Terminate (RFC 5040 Figure 9). MPA is the LLP here.
namespace layer {
inline constexpr std::uint8_t rdmap = 0, ddp = 1, mpa = 2;
}
/// Error types, which each layer numbers for itself.
namespace error_type {
inline constexpr std::uint8_t rdmap_local = 0, rdmap_protection = 1, rdmap_operation = 2;
inline constexpr std::uint8_t ddp_local = 0, ddp_tagged = 1, ddp_untagged = 2, ddp_llp = 3;
inline constexpr std::uint8_t mpa = 0;
}  // namespace error_type

/// Layer, error type and error code of a Terminate: what went wrong, as one comparable value.
struct TerminateCause {
  std::uint8_t layer = 0;  ///< 4 bits: one of wire::layer
  std::uint8_t type = 0;   ///< 4 bits: one of wire::error_type
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

/// The first four octets: Terminate Control (19 bits, Figure 8) and 13 reserved bits.
struct TerminateControl {
  be16 layer_type_code{};  ///< layer:4 type:4 code:8
  be16 header_control{};   ///< M, D, R in the three high bits, the rest reserved
  static constexpr std::uint16_t m = 0x8000, d = 0x4000, r = 0x2000, reserved_mask = 0x1FFF;
};
static_assert(sizeof(TerminateControl) == 4 && WireStruct<TerminateControl>);

/// A Terminate Message, the headers that it sends back by reference.
struct Terminate {
  TerminateCause cause;
  bool m = false;              ///< DDP Segment Length valid
  bool d = false;              ///< terminated DDP header included
  bool r = false;              ///< terminated RDMA header included
  std::uint16_t reserved = 0;  ///< the 13 bits as they came
  std::optional<std::uint16_t> segment_length;
  Bytes ddp_header;    ///< if D: 14 octets (its T bit set) or 18; else empty
  Bytes rdmap_header;  ///< if R: a Read or Atomic Request header of 28 or 52 octets; else empty
};
/// The longest Terminate that parse_terminate() takes.
inline constexpr std::size_t max_terminate_size =
    sizeof(TerminateControl) + sizeof(be16) + untagged_header_size + sizeof(AtomicRequestHeader);

enum class TerminateError : std::uint8_t {
  truncated,        ///< the flags announce more than there is
  trailing_octets,  ///< more is there than the flags announce
};
/// Parses what follows the untagged DDP header of a Terminate Message. The DDP Segment Length field
/// is taken as present when M or D is set. An RDMA header of a whole Atomic Request (52 octets) is
/// taken as well: RFC 7306 neither asks for it nor forbids it.
[[nodiscard]] std::expected<Terminate, TerminateError> parse_terminate(Bytes payload);
/// Whether the DDP Segment Length is that of the untagged message which this segment ends, in which
/// RDMAP has found an error: what DDP hands up with a message (docs/disputes.md D100). `segment`
/// begins with its DDP header and has `length` octets.
[[nodiscard]] bool tells_message_length(const Terminate& terminate, Bytes segment,
                                        std::size_t length);
/// The cause alone, of a Terminate that may be torn or too long.
[[nodiscard]] std::expected<TerminateCause, TerminateError> parse_terminate_cause(Bytes payload);
/// Writes the control words and then exactly what `terminate` holds: the length if there is one,
/// the headers if they are not empty. That the flags M, D and R agree with it is up to the caller,
/// so that a tester may also write what no RFC allows.
void format_terminate(Writer& out, const Terminate& terminate);
/// What the registry calls the cause, in our words, with its numbers:
/// `DDP tagged buffer error: base or bounds violation (1/1/0x01)`.
[[nodiscard]] std::string describe(TerminateCause cause);
/// The cause, then `[M D R] segment=30 of {RDMA Write L stag=0x00000101 to=0x1000}` as far as
/// given.
[[nodiscard]] std::string describe(const Terminate& terminate);
/// Whether the cause stands in the registries of RFC 6580 and RFC 6581. An RDMAP local catastrophic
/// error and DDP's type 3, kept for the LLP, do with any code.
[[nodiscard]] bool is_registered(TerminateCause cause);

}  // namespace rnic::wire
