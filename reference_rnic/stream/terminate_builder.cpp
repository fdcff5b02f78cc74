// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/terminate_builder.hpp"

#include <array>
#include <utility>

namespace rnic::stream {
namespace {

namespace cause = wire::cause;

/// Which headers Figure 10 wants for an error of this layer and type.
struct Included {
  bool ddp = false, rdmap = false;
};
Included figure_10(wire::TerminateCause cause) {
  namespace type = wire::error_type;
  if (cause.layer == wire::layer::ddp) return {true, false};
  if (cause.layer != wire::layer::rdmap) return {};
  return {cause.type == type::rdmap_protection || cause.type == type::rdmap_operation,
          cause.type == type::rdmap_protection};
}

/// A deviation that reports one cause as another.
struct Mistake {
  Deviation deviation;
  wire::TerminateCause right;
  wire::TerminateCause wrong;
};
constexpr Mistake mistakes[] = {
    {Deviation::reports_invalid_stag_as_bounds, cause::ddp_tagged_invalid_stag,
     cause::ddp_tagged_base_or_bounds},
    {Deviation::reports_tagged_bounds_as_stag, cause::ddp_tagged_base_or_bounds,
     cause::ddp_tagged_invalid_stag},
    {Deviation::reports_foreign_stag_as_invalid, cause::ddp_tagged_stag_not_associated,
     cause::ddp_tagged_invalid_stag},
    {Deviation::reports_to_wrap_as_stag, cause::ddp_tagged_to_wrap, cause::ddp_tagged_invalid_stag},
    {Deviation::reports_tagged_version_as_untagged, cause::ddp_tagged_invalid_version,
     cause::ddp_untagged_invalid_version},
    {Deviation::reports_invalid_queue_as_no_buffer, cause::ddp_untagged_invalid_queue,
     cause::ddp_untagged_no_buffer},
    {Deviation::reports_no_buffer_as_too_long, cause::ddp_untagged_no_buffer,
     cause::ddp_untagged_message_too_long},
    {Deviation::reports_msn_range_as_offset, cause::ddp_untagged_msn_out_of_range,
     cause::ddp_untagged_invalid_offset},
    {Deviation::reports_offset_as_queue, cause::ddp_untagged_invalid_offset,
     cause::ddp_untagged_invalid_queue},
    {Deviation::reports_too_long_as_no_buffer, cause::ddp_untagged_message_too_long,
     cause::ddp_untagged_no_buffer},
    {Deviation::reports_untagged_version_as_tagged, cause::ddp_untagged_invalid_version,
     cause::ddp_tagged_invalid_version},
    {Deviation::reports_read_stag_as_tagged_write, cause::rdmap_invalid_stag,
     cause::ddp_tagged_invalid_stag},
    {Deviation::reports_read_bounds_as_stag, cause::rdmap_base_or_bounds,
     cause::rdmap_invalid_stag},
    {Deviation::reports_read_access_as_stag, cause::rdmap_access_rights, cause::rdmap_invalid_stag},
    {Deviation::reports_read_association_as_access, cause::rdmap_stag_not_associated,
     cause::rdmap_access_rights},
    {Deviation::reports_read_wrap_as_unspecified, cause::rdmap_to_wrap,
     cause::rdmap_protection_unspecified},
    {Deviation::reports_invalidation_as_access, cause::rdmap_protection_cannot_invalidate,
     cause::rdmap_access_rights},
    {Deviation::reports_rdmap_version_as_opcode, cause::rdmap_invalid_version,
     cause::rdmap_unexpected_opcode},
    {Deviation::reports_opcode_as_version, cause::rdmap_unexpected_opcode,
     cause::rdmap_invalid_version},
    {Deviation::reports_unaligned_atomic_as_bounds, cause::rdmap_catastrophic_stream,
     cause::rdmap_base_or_bounds},
    {Deviation::reports_crc_as_marker, cause::mpa_crc, cause::mpa_marker},
    {Deviation::reports_marker_as_crc, cause::mpa_marker, cause::mpa_crc},
    {Deviation::reports_ird_as_local, cause::mpa_insufficient_ird, cause::mpa_local_catastrophic},
    {Deviation::reports_rtr_as_ird, cause::mpa_no_rtr, cause::mpa_insufficient_ird},
    {Deviation::reports_write_as_protection_error, cause::ddp_tagged_base_or_bounds,
     cause::rdmap_base_or_bounds},
    {Deviation::reports_read_stag_as_unspecified, cause::rdmap_invalid_stag,
     cause::rdmap_protection_unspecified},
    {Deviation::reports_rdmap_version_as_unspecified, cause::rdmap_invalid_version,
     cause::rdmap_operation_unspecified},
    {Deviation::reports_ddp_error_as_mpa, cause::ddp_untagged_invalid_queue,
     cause::mpa_local_catastrophic},
    {Deviation::reports_local_error_as_remote, cause::rdmap_local_catastrophic,
     cause::rdmap_operation_unspecified},
};

wire::TerminateCause reported(wire::TerminateCause right, const StreamDecisions& decisions) {
  if (!decisions.conforming()) {
    for (const Mistake& mistake : mistakes)
      if (mistake.right == right && decisions.deviates(mistake.deviation)) return mistake.wrong;
    if (decisions.deviates(Deviation::terminate_cause_unregistered))
      return {right.layer, right.type, 0x7E};
    if (decisions.deviates(Deviation::terminate_layer_always_rdmap) &&
        right.layer == wire::layer::ddp)
      return cause::rdmap_operation_unspecified;
  }
  return right;
}

/// Whether the segment at fault, whose DDP header this is, carries such a message.
bool is_about_atomic(wire::Bytes ddp_header) {
  const auto segment = wire::parse_segment(ddp_header);
  return segment && (segment->rdmap().opcode() == wire::Opcode::atomic_request ||
                     segment->rdmap().opcode() == wire::Opcode::atomic_response);
}
bool is_about_immediate(wire::Bytes ddp_header) {
  const auto segment = wire::parse_segment(ddp_header);
  return segment && wire::is_immediate(segment->rdmap().opcode());
}

bool leaves_headers_out(wire::Bytes ddp_header, const StreamDecisions& decisions) {
  return decisions.deviates(Deviation::terminate_without_headers) ||
         (is_about_atomic(ddp_header) &&
          decisions.deviates(Deviation::atomic_terminate_without_header)) ||
         (is_about_immediate(ddp_header) &&
          decisions.deviates(Deviation::immediate_terminate_without_header));
}

/// Ways of getting the contents wrong, before they are written.
void spoil(wire::Terminate& terminate, std::vector<std::byte>& ddp_header,
           const StreamDecisions& decisions) {
  if (terminate.cause == cause::rdmap_local_catastrophic &&
      decisions.deviates(Deviation::local_terminate_with_header)) {
    ddp_header.assign(wire::untagged_header_size, std::byte{0x41});
    terminate.m = terminate.d = true;
    terminate.segment_length = static_cast<std::uint16_t>(ddp_header.size());
    terminate.ddp_header = ddp_header;
  }
  if (leaves_headers_out(ddp_header, decisions)) {
    terminate.m = terminate.d = terminate.r = false;
    terminate.segment_length.reset();
    terminate.ddp_header = terminate.rdmap_header = {};
  }
  if (terminate.m && decisions.deviates(Deviation::terminate_m_bit_clear)) terminate.m = false;
  if (terminate.r && decisions.deviates(Deviation::terminate_without_rdma_header)) {
    terminate.r = false;
    terminate.rdmap_header = {};
  }
  if (terminate.segment_length &&
      decisions.deviates(Deviation::terminate_segment_length_payload_only))
    *terminate.segment_length =
        static_cast<std::uint16_t>(*terminate.segment_length - terminate.ddp_header.size());
  if (terminate.segment_length && decisions.deviates(Deviation::terminate_segment_length_rounded))
    *terminate.segment_length = static_cast<std::uint16_t>((*terminate.segment_length + 3) / 4 * 4);
  static constexpr std::array<std::byte, sizeof(wire::ReadRequestHeader)> made_up{};
  if (terminate.d && !terminate.r &&
      decisions.deviates(Deviation::terminate_with_made_up_request)) {
    terminate.r = true;
    terminate.rdmap_header = made_up;
  }
  if (decisions.deviates(Deviation::terminate_layer_behind_type))
    std::swap(terminate.cause.layer, terminate.cause.type);
  if (!ddp_header.empty() && decisions.deviates(Deviation::terminate_ddp_header_altered))
    ddp_header.back() ^= std::byte{1};
  if (decisions.deviates(Deviation::terminate_reserved_bits_set)) terminate.reserved = 0x1FFF;
}

/// Ways of getting the octets wrong.
void spoil_octets(std::vector<std::byte>& octets, const wire::Terminate& terminate,
                  const StreamDecisions& decisions) {
  constexpr std::byte d_bit{0x40}, r_bit{0x20};
  if (terminate.d && decisions.deviates(Deviation::terminate_d_bit_clear)) octets[2] &= ~d_bit;
  if (terminate.r && decisions.deviates(Deviation::terminate_r_bit_clear)) octets[2] &= ~r_bit;
  if (!terminate.d && decisions.deviates(Deviation::terminate_d_bit_without_header))
    octets[2] |= d_bit;
  if (terminate.d && decisions.deviates(Deviation::terminate_segment_length_left_out))
    octets.erase(octets.begin() + 4, octets.begin() + 6);
}

}  // namespace

std::vector<std::byte> build_terminate(const Fault& fault, const StreamDecisions& decisions) {
  wire::Terminate terminate;
  terminate.cause = reported(fault.cause, decisions);
  const Included included = figure_10(fault.cause);
  std::vector<std::byte> ddp_header;
  if (included.ddp && fault.offender) {
    const wire::Bytes header = fault.offender->ddp_header();
    ddp_header.assign(header.begin(), header.end());
    terminate.m = terminate.d = true;
    terminate.segment_length = fault.offender->segment_length;
    terminate.ddp_header = ddp_header;
  }
  // Only a Read Request has an RDMA header to be copied (RFC 5040 section 4.8; docs/disputes.md on
  // Figure 10).
  if (included.rdmap && fault.request) {
    terminate.r = true;
    terminate.rdmap_header = wire::octets_of(*fault.request);
  }
  if (!decisions.conforming()) spoil(terminate, ddp_header, decisions);

  std::vector<std::byte> octets(wire::max_terminate_size);
  wire::Writer writer(octets);
  wire::format_terminate(writer, terminate);
  octets.resize(writer.size());
  if (!decisions.conforming()) spoil_octets(octets, terminate, decisions);
  return octets;
}

}  // namespace rnic::stream
