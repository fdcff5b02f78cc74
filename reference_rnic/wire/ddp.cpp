// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/wire/ddp.hpp"

#include <fmt/format.h>

namespace rnic::wire {

const char* name(Opcode opcode) {
  switch (opcode) {
    case Opcode::rdma_write:
      return "RDMA Write";
    case Opcode::read_request:
      return "Read Request";
    case Opcode::read_response:
      return "Read Response";
    case Opcode::send:
      return "Send";
    case Opcode::send_invalidate:
      return "Send with Invalidate";
    case Opcode::send_solicited:
      return "Send with SE";
    case Opcode::send_solicited_invalidate:
      return "Send with SE and Invalidate";
    case Opcode::terminate:
      return "Terminate";
    case Opcode::immediate:
      return "Immediate Data";
    case Opcode::immediate_solicited:
      return "Immediate Data with SE";
    case Opcode::atomic_request:
      return "Atomic Request";
    case Opcode::atomic_response:
      return "Atomic Response";
  }
  return "undefined opcode";
}

bool read_segment(Bytes ulpdu, Segment& segment) {
  if (ulpdu.empty()) return false;
  segment.tagged = DdpControl{std::to_integer<std::uint8_t>(ulpdu.front())}.tagged();
  const auto fill = [&](auto& header) {
    if (ulpdu.size() < sizeof header) return false;
    std::memcpy(&header, ulpdu.data(), sizeof header);
    segment.payload = ulpdu.subspan(sizeof header);
    return true;
  };
  return segment.tagged ? fill(segment.tagged_header) : fill(segment.untagged_header);
}

std::expected<Segment, SegmentError> parse_segment(Bytes ulpdu) {
  std::expected<Segment, SegmentError> segment;
  if (ulpdu.empty())
    segment = std::unexpected(SegmentError::empty);
  else if (!read_segment(ulpdu, *segment))
    segment = std::unexpected(SegmentError::truncated);
  return segment;
}

namespace {

std::string tagged_text(const TaggedHeader& header) {
  return fmt::format(" stag={:#010x} to={:#x}", header.stag.value(), header.tagged_offset.value());
}

std::string untagged_text(const UntaggedHeader& header) {
  std::string text;
  if (carries_invalidate(header.rdmap.opcode()))
    text = fmt::format(" inv={:#010x}", header.ulp_word.value());
  return text + fmt::format(" qn={} msn={} mo={}", header.queue_number.value(),
                            header.message_sequence_number.value(), header.message_offset.value());
}

/// Fixed fields of any segment that do not hold what RFC 5041 section 4.1 and RFC 5040 section 4.1
/// ask for.
std::string control_faults(const Segment& segment) {
  const DdpControl ddp = segment.ddp();
  const RdmapControl rdmap = segment.rdmap();
  std::string faults;
  if (ddp.version() != ddp_version) faults += fmt::format(" ! DDP version {}", ddp.version());
  if (const unsigned reserved = ddp.octet & DdpControl::reserved_mask; reserved != 0)
    faults += fmt::format(" ! reserved DDP bits {:#04x}", reserved);
  if (rdmap.version() != rdmap_version)
    faults += fmt::format(" ! RDMAP version {}", rdmap.version());
  if (const unsigned reserved = rdmap.octet & RdmapControl::reserved_mask; reserved != 0)
    faults += fmt::format(" ! reserved RDMAP bits {:#04x}", reserved);
  if (is_defined(rdmap.opcode()) && is_tagged(rdmap.opcode()) != segment.tagged)
    faults += segment.tagged ? " ! in a tagged segment" : " ! in an untagged segment";
  return faults;
}

/// The same for the fields that only untagged segments have (RFC 5040 Figure 4).
std::string untagged_faults(const UntaggedHeader& header) {
  const Opcode opcode = header.rdmap.opcode();
  std::string faults;
  if (!is_defined(opcode) || is_tagged(opcode)) return faults;
  const auto queue = static_cast<std::uint32_t>(queue_of(opcode));
  if (header.queue_number.value() != queue) faults += fmt::format(" ! not on queue {}", queue);
  if (!carries_invalidate(opcode) && header.ulp_word.value() != 0)
    faults += fmt::format(" ! Invalidate STag field {:#010x}", header.ulp_word.value());
  return faults;
}

/// Opcode, L and the fields of the header.
std::string fields_text(const Segment& segment) {
  const Opcode opcode = segment.rdmap().opcode();
  std::string text = is_defined(opcode)
                         ? name(opcode)
                         : fmt::format("opcode {:#x}", static_cast<unsigned>(opcode));
  if (segment.ddp().last()) text += " L";
  return text + (segment.tagged ? tagged_text(segment.tagged_header)
                                : untagged_text(segment.untagged_header));
}

std::string faults_text(const Segment& segment) {
  return control_faults(segment) +
         (segment.tagged ? std::string() : untagged_faults(segment.untagged_header));
}

}  // namespace

std::string describe(const Segment& segment) {
  return fields_text(segment) + fmt::format(" len={}", segment.payload.size()) +
         faults_text(segment);
}

std::string describe_header(const Segment& segment) {
  return fields_text(segment) + faults_text(segment);
}

}  // namespace rnic::wire
