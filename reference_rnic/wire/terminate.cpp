// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/wire/terminate.hpp"

#include <fmt/format.h>

#include <string_view>

#include "reference_rnic/wire/flag_list.hpp"

namespace rnic::wire {

namespace {

/// One entry of the error registries that RFC 6580 section 3 opened and RFC 6581 section 8
/// extended.
struct RegisteredCause {
  TerminateCause cause;
  bool any_code;  ///< the registry's ALL: the code says nothing
  std::string_view error;
};

constexpr RegisteredCause registry[] = {
    {cause::rdmap_local_catastrophic, true, ""},
    {cause::rdmap_invalid_stag, false, "invalid STag"},
    {cause::rdmap_base_or_bounds, false, "base or bounds violation"},
    {cause::rdmap_access_rights, false, "access rights violation"},
    {cause::rdmap_stag_not_associated, false, "STag not associated with the RDMAP Stream"},
    {cause::rdmap_to_wrap, false, "TO wrap"},
    {cause::rdmap_protection_cannot_invalidate, false, "STag cannot be invalidated"},
    {cause::rdmap_protection_unspecified, false, "unspecified"},
    {cause::rdmap_invalid_version, false, "invalid RDMAP version"},
    {cause::rdmap_unexpected_opcode, false, "unexpected opcode"},
    {cause::rdmap_catastrophic_stream, false, "catastrophic, this RDMAP Stream"},
    {cause::rdmap_catastrophic_global, false, "catastrophic, global"},
    {cause::rdmap_operation_cannot_invalidate, false, "STag cannot be invalidated"},
    {cause::rdmap_operation_unspecified, false, "unspecified"},
    {cause::ddp_local_catastrophic, false, ""},
    {cause::ddp_tagged_invalid_stag, false, "invalid STag"},
    {cause::ddp_tagged_base_or_bounds, false, "base or bounds violation"},
    {cause::ddp_tagged_stag_not_associated, false, "STag not associated with the DDP Stream"},
    {cause::ddp_tagged_to_wrap, false, "TO wrap"},
    {cause::ddp_tagged_invalid_version, false, "invalid DDP version"},
    {cause::ddp_untagged_invalid_queue, false, "invalid queue number"},
    {cause::ddp_untagged_no_buffer, false, "invalid MSN, no buffer available"},
    {cause::ddp_untagged_msn_out_of_range, false, "invalid MSN, out of range"},
    {cause::ddp_untagged_invalid_offset, false, "invalid message offset"},
    {cause::ddp_untagged_message_too_long, false, "message too long for the buffer"},
    {cause::ddp_untagged_invalid_version, false, "invalid DDP version"},
    {{layer::ddp, error_type::ddp_llp, 0}, true, ""},
    {cause::mpa_connection_lost, false, "TCP connection closed or lost"},
    {cause::mpa_crc, false, "CRC mismatch"},
    {cause::mpa_marker, false, "Marker and ULPDU_Length disagree"},
    {cause::mpa_invalid_frame, false, "invalid Request or Reply Frame"},
    {cause::mpa_local_catastrophic, false, "local catastrophic"},
    {cause::mpa_insufficient_ird, false, "insufficient IRD resources"},
    {cause::mpa_no_rtr, false, "no matching RTR option"},
};

const RegisteredCause* find(TerminateCause wanted) {
  const auto* found = std::ranges::find_if(registry, [wanted](const RegisteredCause& entry) {
    return entry.cause.layer == wanted.layer && entry.cause.type == wanted.type &&
           (entry.any_code || entry.cause.code == wanted.code);
  });
  return found == std::end(registry) ? nullptr : found;
}

constexpr unsigned layer_and_type(unsigned layer, unsigned type) { return layer << 4 | type; }

std::string_view type_name(TerminateCause cause) {
  switch (layer_and_type(cause.layer, cause.type)) {
    case layer_and_type(layer::rdmap, error_type::rdmap_local):
      return "RDMAP local catastrophic error";
    case layer_and_type(layer::rdmap, error_type::rdmap_protection):
      return "RDMAP remote protection error";
    case layer_and_type(layer::rdmap, error_type::rdmap_operation):
      return "RDMAP remote operation error";
    case layer_and_type(layer::ddp, error_type::ddp_local):
      return "DDP local catastrophic error";
    case layer_and_type(layer::ddp, error_type::ddp_tagged):
      return "DDP tagged buffer error";
    case layer_and_type(layer::ddp, error_type::ddp_untagged):
      return "DDP untagged buffer error";
    case layer_and_type(layer::ddp, error_type::ddp_llp):
      return "DDP error reserved for the LLP";
    case layer_and_type(layer::mpa, error_type::mpa):
      return "MPA error";
    default:
      return "unregistered error";
  }
}

constexpr unsigned low_nibble = 0xF;

TerminateCause cause_from(std::uint16_t layer_type_code) {
  return {.layer = static_cast<std::uint8_t>(layer_type_code >> 12),
          .type = static_cast<std::uint8_t>(layer_type_code >> 8 & low_nibble),
          .code = static_cast<std::uint8_t>(layer_type_code)};
}

std::uint16_t layer_type_code_of(TerminateCause cause) {
  return static_cast<std::uint16_t>((cause.layer & low_nibble) << 12 |
                                    (cause.type & low_nibble) << 8 | cause.code);
}

/// Octets of the terminated DDP header at the front of `octets`: its T bit says which of the two it
/// is.
std::size_t ddp_header_length(Bytes octets) {
  if (octets.empty()) return untagged_header_size;
  const DdpControl control{std::to_integer<std::uint8_t>(octets.front())};
  return control.tagged() ? tagged_header_size : untagged_header_size;
}

/// Octets of the terminated RDMA header: RFC 5040 section 4.8 knows only the Read Request's. A peer
/// with Atomics may send back a whole Atomic Request header.
std::size_t rdmap_header_length(Bytes ddp_header, std::size_t available) {
  const auto segment = parse_segment(ddp_header);
  const bool atomic = segment && segment->rdmap().opcode() == Opcode::atomic_request;
  return atomic && available >= sizeof(AtomicRequestHeader) ? sizeof(AtomicRequestHeader)
                                                            : sizeof(ReadRequestHeader);
}

}  // namespace

bool is_registered(TerminateCause cause) { return find(cause) != nullptr; }

std::expected<TerminateCause, TerminateError> parse_terminate_cause(Bytes payload) {
  Reader in(payload);
  const auto control = in.read<TerminateControl>();
  if (in.truncated()) return std::unexpected(TerminateError::truncated);
  return cause_from(control.layer_type_code.value());
}

std::expected<Terminate, TerminateError> parse_terminate(Bytes payload) {
  Reader in(payload);
  const auto control = in.read<TerminateControl>();
  const std::uint16_t header_control = control.header_control.value();
  Terminate terminate{
      .cause = cause_from(control.layer_type_code.value()),
      .m = (header_control & TerminateControl::m) != 0,
      .d = (header_control & TerminateControl::d) != 0,
      .r = (header_control & TerminateControl::r) != 0,
      .reserved = static_cast<std::uint16_t>(header_control & TerminateControl::reserved_mask),
      .segment_length = std::nullopt,
      .ddp_header = {},
      .rdmap_header = {}};
  if (terminate.m || terminate.d) terminate.segment_length = in.read<be16>().value();
  if (terminate.d) terminate.ddp_header = in.take(ddp_header_length(in.rest()));
  if (terminate.r)
    terminate.rdmap_header = in.take(rdmap_header_length(terminate.ddp_header, in.rest().size()));
  if (in.truncated()) return std::unexpected(TerminateError::truncated);
  if (!in.at_end()) return std::unexpected(TerminateError::trailing_octets);
  return terminate;
}

bool tells_message_length(const Terminate& terminate, Bytes segment, std::size_t length) {
  if (terminate.cause.layer != layer::rdmap || !terminate.segment_length ||
      segment.size() < untagged_header_size || length < untagged_header_size)
    return false;
  const auto header = Reader(segment).read<UntaggedHeader>();
  return !header.ddp.tagged() && header.ddp.last() &&
         *terminate.segment_length ==
             header.message_offset.value() + (length - untagged_header_size);
}

void format_terminate(Writer& out, const Terminate& terminate) {
  const unsigned header_control = (terminate.m ? TerminateControl::m : 0U) |
                                  (terminate.d ? TerminateControl::d : 0U) |
                                  (terminate.r ? TerminateControl::r : 0U) |
                                  (terminate.reserved & TerminateControl::reserved_mask);
  out.write(TerminateControl{.layer_type_code = layer_type_code_of(terminate.cause),
                             .header_control = static_cast<std::uint16_t>(header_control)});
  if (terminate.segment_length) out.write(be16(*terminate.segment_length));
  out.write(terminate.ddp_header);
  out.write(terminate.rdmap_header);
}

std::string describe(TerminateCause cause) {
  const RegisteredCause* entry = find(cause);
  std::string text(type_name(cause));
  if (entry == nullptr)
    text += text.starts_with("unregistered") ? "" : ": unregistered code";
  else if (!entry->error.empty())
    text.append(": ").append(entry->error);
  return text + fmt::format(" ({}/{}/{:#04x})", cause.layer, cause.type, cause.code);
}

std::string describe(const Terminate& terminate) {
  const std::string flags =
      flag_list({{terminate.m, "M"}, {terminate.d, "D"}, {terminate.r, "R"}}, " ");
  std::string text = fmt::format("{} [{}]", describe(terminate.cause), flags);
  if (terminate.segment_length) text += fmt::format(" segment={}", *terminate.segment_length);
  if (const auto segment = parse_segment(terminate.ddp_header))
    text += fmt::format(" of {{{}}}", describe_header(*segment));
  if (terminate.rdmap_header.size() == sizeof(ReadRequestHeader))
    text +=
        fmt::format(" {{{}}}", describe(Reader(terminate.rdmap_header).read<ReadRequestHeader>()));
  if (terminate.reserved != 0) text += fmt::format(" ! reserved bits {:#06x}", terminate.reserved);
  return text;
}

}  // namespace rnic::wire
