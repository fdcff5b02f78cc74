// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations that report an error as another one: one row for each.
#include "reference_rnic/deviants/stream_tables.hpp"
#include "reference_rnic/wire/terminate.hpp"

namespace rnic::deviants {
namespace {

namespace cause = wire::cause;
using stream::Decisions;
using stream::Fault;
using wire::Terminate;

/// Reports the cause `right` as `wrong`.
template <wire::TerminateCause right, wire::TerminateCause wrong>
struct Misreports : Decisions {
  void terminate(const Fault& fault, Terminate& terminate) override {
    if (fault.cause == right) terminate.cause = wrong;
  }
};

struct TerminateCauseUnregistered : Decisions {
  void terminate(const Fault&, Terminate& terminate) override { terminate.cause.code = 0x7E; }
};

struct TerminateLayerAlwaysRdmap : Decisions {
  void terminate(const Fault& fault, Terminate& terminate) override {
    if (fault.cause.layer == wire::layer::ddp) terminate.cause = cause::rdmap_operation_unspecified;
  }
};

constexpr StreamRow rows[] = {
    stream_row<Misreports<cause::mpa_no_rtr, cause::rdmap_local_catastrophic>>(
        Deviation::reports_rtr_as_rdmap_error),
    stream_row<Misreports<cause::mpa_no_rtr, cause::mpa_crc>>(Deviation::reports_rtr_as_crc),
    stream_row<Misreports<cause::ddp_tagged_invalid_stag, cause::ddp_tagged_base_or_bounds>>(
        Deviation::reports_invalid_stag_as_bounds),
    stream_row<Misreports<cause::ddp_tagged_base_or_bounds, cause::ddp_tagged_invalid_stag>>(
        Deviation::reports_tagged_bounds_as_stag),
    stream_row<Misreports<cause::ddp_tagged_stag_not_associated, cause::ddp_tagged_invalid_stag>>(
        Deviation::reports_foreign_stag_as_invalid),
    stream_row<Misreports<cause::ddp_tagged_to_wrap, cause::ddp_tagged_invalid_stag>>(
        Deviation::reports_to_wrap_as_stag),
    stream_row<Misreports<cause::ddp_tagged_invalid_version, cause::ddp_untagged_invalid_version>>(
        Deviation::reports_tagged_version_as_untagged),
    stream_row<Misreports<cause::ddp_untagged_invalid_queue, cause::ddp_untagged_no_buffer>>(
        Deviation::reports_invalid_queue_as_no_buffer),
    stream_row<Misreports<cause::ddp_untagged_no_buffer, cause::ddp_untagged_message_too_long>>(
        Deviation::reports_no_buffer_as_too_long),
    stream_row<
        Misreports<cause::ddp_untagged_msn_out_of_range, cause::ddp_untagged_invalid_offset>>(
        Deviation::reports_msn_range_as_offset),
    stream_row<Misreports<cause::ddp_untagged_invalid_offset, cause::ddp_untagged_invalid_queue>>(
        Deviation::reports_offset_as_queue),
    stream_row<Misreports<cause::ddp_untagged_message_too_long, cause::ddp_untagged_no_buffer>>(
        Deviation::reports_too_long_as_no_buffer),
    stream_row<Misreports<cause::ddp_untagged_invalid_version, cause::ddp_tagged_invalid_version>>(
        Deviation::reports_untagged_version_as_tagged),
    stream_row<Misreports<cause::rdmap_invalid_stag, cause::ddp_tagged_invalid_stag>>(
        Deviation::reports_read_stag_as_tagged_write),
    stream_row<Misreports<cause::rdmap_base_or_bounds, cause::rdmap_invalid_stag>>(
        Deviation::reports_read_bounds_as_stag),
    stream_row<Misreports<cause::rdmap_access_rights, cause::rdmap_invalid_stag>>(
        Deviation::reports_read_access_as_stag),
    stream_row<Misreports<cause::rdmap_stag_not_associated, cause::rdmap_access_rights>>(
        Deviation::reports_read_association_as_access),
    stream_row<Misreports<cause::rdmap_to_wrap, cause::rdmap_protection_unspecified>>(
        Deviation::reports_read_wrap_as_unspecified),
    stream_row<Misreports<cause::rdmap_protection_cannot_invalidate, cause::rdmap_access_rights>>(
        Deviation::reports_invalidation_as_access),
    stream_row<Misreports<cause::rdmap_invalid_version, cause::rdmap_unexpected_opcode>>(
        Deviation::reports_rdmap_version_as_opcode),
    stream_row<Misreports<cause::rdmap_unexpected_opcode, cause::rdmap_invalid_version>>(
        Deviation::reports_opcode_as_version),
    stream_row<Misreports<cause::rdmap_catastrophic_stream, cause::rdmap_base_or_bounds>>(
        Deviation::reports_unaligned_atomic_as_bounds),
    stream_row<Misreports<cause::mpa_crc, cause::mpa_marker>>(Deviation::reports_crc_as_marker),
    stream_row<Misreports<cause::mpa_marker, cause::mpa_crc>>(Deviation::reports_marker_as_crc),
    stream_row<Misreports<cause::mpa_insufficient_ird, cause::mpa_local_catastrophic>>(
        Deviation::reports_ird_as_local),
    stream_row<Misreports<cause::mpa_no_rtr, cause::mpa_insufficient_ird>>(
        Deviation::reports_rtr_as_ird),
    stream_row<Misreports<cause::ddp_tagged_base_or_bounds, cause::rdmap_base_or_bounds>>(
        Deviation::reports_write_as_protection_error),
    stream_row<Misreports<cause::rdmap_invalid_stag, cause::rdmap_protection_unspecified>>(
        Deviation::reports_read_stag_as_unspecified),
    stream_row<Misreports<cause::rdmap_invalid_version, cause::rdmap_operation_unspecified>>(
        Deviation::reports_rdmap_version_as_unspecified),
    stream_row<Misreports<cause::ddp_untagged_invalid_queue, cause::mpa_local_catastrophic>>(
        Deviation::reports_ddp_error_as_mpa),
    stream_row<Misreports<cause::rdmap_local_catastrophic, cause::rdmap_operation_unspecified>>(
        Deviation::reports_local_error_as_remote),
    stream_row<TerminateCauseUnregistered>(Deviation::terminate_cause_unregistered),
    stream_row<TerminateLayerAlwaysRdmap>(Deviation::terminate_layer_always_rdmap),
};

}  // namespace

std::span<const StreamRow> terminate_code_deviants() { return rows; }

}  // namespace rnic::deviants
