// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/header_checks.hpp"

namespace rnic::stream {
namespace {

constexpr std::uint32_t queue_count = 4;

bool is_atomic(wire::Opcode opcode) {
  return opcode == wire::Opcode::atomic_request || opcode == wire::Opcode::atomic_response;
}

/// Whether a deviation looks away from the DDP version of messages like this one.
bool ignores_ddp_version(wire::Opcode opcode, const StreamDecisions& decisions) {
  if (opcode == wire::Opcode::read_response &&
      decisions.deviates(Deviation::read_response_ddp_version_unchecked))
    return true;
  return decisions.deviates(Deviation::accepts_any_ddp_version) ||
         (is_atomic(opcode) && decisions.deviates(Deviation::atomic_ddp_version_unchecked)) ||
         (wire::is_immediate(opcode) &&
          decisions.deviates(Deviation::immediate_ddp_version_unchecked));
}

bool ignores_rdmap_version(wire::Opcode opcode, const StreamDecisions& decisions) {
  return decisions.deviates(Deviation::accepts_any_rdmap_version) ||
         (opcode == wire::Opcode::read_request &&
          decisions.deviates(Deviation::read_request_version_unchecked)) ||
         (is_atomic(opcode) && decisions.deviates(Deviation::atomic_rdmap_version_unchecked)) ||
         (wire::is_immediate(opcode) &&
          decisions.deviates(Deviation::immediate_rdmap_version_unchecked));
}

bool ignores_queue(wire::Opcode opcode, const StreamDecisions& decisions) {
  return decisions.deviates(Deviation::opcode_not_matched_to_queue) ||
         (is_atomic(opcode) && decisions.deviates(Deviation::atomic_opcode_on_any_queue)) ||
         (wire::is_immediate(opcode) && decisions.deviates(Deviation::immediate_on_any_queue));
}

/// ddp.header.dv-is-one, ddp.terminate.tagged-invalid-version,
/// ddp.terminate.untagged-invalid-version
std::optional<Fault> check_ddp(const IncomingSegment& incoming, const StreamDecisions& decisions) {
  const wire::Segment& segment = incoming.segment;
  if (segment.ddp().version() != wire::ddp_version &&
      !ignores_ddp_version(segment.rdmap().opcode(), decisions))
    return incoming.fault(segment.tagged ? wire::cause::ddp_tagged_invalid_version
                                         : wire::cause::ddp_untagged_invalid_version,
                          "DDP version is not 1");
  if ((segment.ddp().octet & wire::DdpControl::reserved_mask) != 0 &&
      decisions.deviates(Deviation::refuses_ddp_reserved_bits))
    return incoming.fault(wire::cause::rdmap_operation_unspecified, "reserved bits of DDP are set");
  // ddp.untagged.check-qn-valid
  if (!segment.tagged && segment.untagged_header.queue_number.value() >= queue_count &&
      !decisions.deviates(Deviation::accepts_any_queue))
    return incoming.fault(wire::cause::ddp_untagged_invalid_queue, "no such queue");
  return std::nullopt;
}

/// Whether opcode, T bit and queue belong together (RFC 5040 Figure 4, RFC 7306 Figure 2).
bool fits(const wire::Segment& segment, const StreamDecisions& decisions) {
  const wire::Opcode opcode = segment.rdmap().opcode();
  if (segment.tagged && decisions.deviates(Deviation::tagged_opcode_unread)) return true;
  if (!wire::is_defined(opcode))
    return decisions.deviates(Deviation::takes_unknown_opcode_for_send);
  if (wire::is_tagged(opcode) != segment.tagged)
    return wire::is_immediate(opcode) && decisions.deviates(Deviation::immediate_on_any_queue);
  if (segment.tagged || ignores_queue(opcode, decisions)) return true;
  return segment.untagged_header.queue_number.value() ==
         static_cast<std::uint32_t>(wire::queue_of(opcode));
}

std::optional<Fault> check_rdmap(const IncomingSegment& incoming,
                                 const StreamDecisions& decisions) {
  const wire::Segment& segment = incoming.segment;
  // rdmap.error.version-validated
  if (segment.rdmap().version() != wire::rdmap_version &&
      !ignores_rdmap_version(segment.rdmap().opcode(), decisions))
    return incoming.fault(wire::cause::rdmap_invalid_version, "RDMAP version is not 1");
  if ((segment.rdmap().octet & wire::RdmapControl::reserved_mask) != 0 &&
      decisions.deviates(Deviation::refuses_rdmap_reserved_bits))
    return incoming.fault(wire::cause::rdmap_operation_unspecified,
                          "reserved bits of RDMAP are set");
  // rdmap.error.opcode-validated, rdmap.header.tagged-flag-per-opcode
  if (!fits(segment, decisions))
    return incoming.fault(wire::cause::rdmap_unexpected_opcode,
                          "opcode is unknown or does not fit the queue");
  return std::nullopt;
}

}  // namespace

std::optional<Fault> check_header(const IncomingSegment& incoming,
                                  const StreamDecisions& decisions) {
  if (auto fault = check_ddp(incoming, decisions)) return fault;
  return check_rdmap(incoming, decisions);
}

}  // namespace rnic::stream
