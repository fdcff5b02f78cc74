// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/rdmap/terminate_matrix.hpp"

namespace suite::cases {

namespace cause = rnic::wire::cause;

namespace {

constexpr std::string_view tagged =
    "rdmap.terminate_codes.tagged_errors_are_reported_with_the_segments_header";
constexpr std::string_view untagged =
    "rdmap.terminate_codes.untagged_errors_are_reported_with_the_segments_header";
constexpr std::string_view reads =
    "rdmap.terminate_codes.read_errors_are_reported_with_both_headers";
constexpr std::string_view invalidations =
    "rdmap.terminate_codes.invalidation_errors_are_reported_with_the_segments_header";
constexpr std::string_view operations =
    "rdmap.terminate_codes.operation_errors_are_reported_with_the_ddp_header_alone";
constexpr std::string_view wraps = "out of bounds is also right (docs/disputes.md D15)";
constexpr std::string_view either_type = "types 1 and 2 are both right (docs/disputes.md D1)";

constexpr MatrixEntry matrix[] = {
    {cause::rdmap_local_catastrophic, true, "local catastrophic error",
     "rdmap.terminate_codes.local_error_is_reported_as_such",
     "provoked by the consumer, not by the peer"},
    {cause::rdmap_invalid_stag, false, "invalid STag", reads, ""},
    {cause::rdmap_base_or_bounds, false, "base or bounds violation", reads, ""},
    {cause::rdmap_access_rights, false, "access rights violation", reads, ""},
    {cause::rdmap_stag_not_associated, false, "STag not associated with the stream", reads, ""},
    {cause::rdmap_to_wrap, false, "TO wrap", reads, wraps},
    {cause::rdmap_protection_cannot_invalidate, false, "STag cannot be invalidated", invalidations,
     either_type},
    {cause::rdmap_protection_unspecified, false, "unspecified protection error", "",
     "no text demands it; accepted by "
     "rdmap.atomics.atomic_is_subject_to_the_access_checks_of_a_read"},
    {cause::rdmap_invalid_version, false, "invalid RDMAP version", operations, ""},
    {cause::rdmap_unexpected_opcode, false, "unexpected opcode", operations, ""},
    {cause::rdmap_catastrophic_stream, false, "catastrophic error, this stream",
     "rdmap.terminate_codes.unaligned_atomic_is_reported_with_the_ddp_header_alone",
     "demanded for unaligned Atomics only (RFC 7306 8.2)"},
    {cause::rdmap_catastrophic_global, false, "catastrophic error, global", "",
     "the whole RNIC has failed: nothing that a peer sends can cause this"},
    {cause::rdmap_operation_cannot_invalidate, false, "STag cannot be invalidated", invalidations,
     either_type},
    {cause::rdmap_operation_unspecified, false, "unspecified operation error", "",
     "no text demands it; accepted by rdmap.atomics.unknown_atomic_operation_is_rejected"},
    {cause::ddp_local_catastrophic, false, "local catastrophic error", "",
     "a local error of the IUT that neither its peer nor its consumer can cause"},
    {cause::ddp_tagged_invalid_stag, false, "invalid STag", tagged, ""},
    {cause::ddp_tagged_base_or_bounds, false, "base or bounds violation", tagged, ""},
    {cause::ddp_tagged_stag_not_associated, false, "STag not associated with the stream", tagged,
     ""},
    {cause::ddp_tagged_to_wrap, false, "TO wrap", tagged, wraps},
    {cause::ddp_tagged_invalid_version, false, "invalid DDP version", tagged, ""},
    {cause::ddp_untagged_invalid_queue, false, "invalid queue number", untagged, ""},
    {cause::ddp_untagged_no_buffer, false, "no buffer for the MSN",
     "rdmap.terminate_codes.missing_buffer_is_reported_with_the_segments_header",
     "the message may wait for a buffer (docs/disputes.md D9)"},
    {cause::ddp_untagged_msn_out_of_range, false, "MSN out of range", untagged, ""},
    {cause::ddp_untagged_invalid_offset, false, "invalid message offset", untagged, ""},
    {cause::ddp_untagged_message_too_long, false, "message too long for its buffer", untagged, ""},
    {cause::ddp_untagged_invalid_version, false, "invalid DDP version", untagged, ""},
    {{1, 3, 0},
     true,
     "reserved for the LLP",
     "",
     "MPA reports its errors under its own layer (RFC 5044 section 8)"},
    {cause::mpa_connection_lost, false, "TCP connection closed, terminated or lost",
     "rdmap.close.fin_within_an_fpdu_is_a_lost_connection",
     "reported to the consumer: without the connection no Terminate can be sent"},
    {cause::mpa_crc, false, "CRC error",
     "rdmap.terminate_codes.crc_error_is_reported_without_a_header",
     "a silent drop is also right (docs/disputes.md D8)"},
    {cause::mpa_marker, false, "Marker and ULPDU Length mismatch",
     "rdmap.terminate_codes.marker_error_is_reported_without_a_header",
     "Markers need not be checked (docs/disputes.md D8)"},
    {cause::mpa_invalid_frame, false, "invalid Request or Reply Frame", "",
     "reported to the consumer: before full operation no FPDU can carry a Terminate"},
    {cause::mpa_local_catastrophic, false, "local catastrophic error", "",
     "a local error of the IUT that neither its peer nor its consumer can cause"},
    {cause::mpa_insufficient_ird, false, "insufficient IRD resources",
     "mpa.enhanced_initiator.insufficient_ird_is_reported_by_a_terminate", ""},
    {cause::mpa_no_rtr, false, "no matching RTR option",
     "mpa.initiator_rtr.missing_rtr_match_is_reported_by_a_terminate", ""},
};

}  // namespace

std::span<const MatrixEntry> terminate_matrix() { return matrix; }

}  // namespace suite::cases
