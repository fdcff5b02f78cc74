// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/wire/notation.hpp"

#include <fmt/format.h>

#include "base/hex.hpp"
#include "reference_rnic/wire/terminate.hpp"

namespace rnic::wire {

namespace {

/// The RDMAP header at the front of `payload`; `what` is its name where octets are missing or left
/// over.
template <typename Header>
std::string header_text(const char* what, Bytes payload) {
  Reader in(payload);
  const auto header = in.read<Header>();
  if (in.truncated()) return fmt::format(" ! {} header needs {} octets", what, sizeof(Header));
  std::string text = " | " + describe(header);
  if (!in.at_end()) text += fmt::format(" ! {} octets after the header", in.rest().size());
  return text;
}

std::string terminate_text(Bytes payload) {
  const auto terminate = parse_terminate(payload);
  if (terminate) return " | " + describe(*terminate);
  const std::string fault = terminate.error() == TerminateError::truncated
                                ? " ! truncated Terminate"
                                : " ! octets after the Terminate";
  const auto cause = parse_terminate_cause(payload);
  return (cause ? " | " + describe(*cause) : std::string()) + fault;
}

std::string immediate_text(Bytes payload) {
  if (payload.size() != immediate_size)
    return fmt::format(" ! Immediate Data has {} octets", immediate_size);
  return " | " + hex(payload);
}

/// What the octets after the DDP header say, for the messages whose payload is a header.
std::string payload_text(const Segment& segment) {
  switch (segment.rdmap().opcode()) {
    case Opcode::read_request:
      return header_text<ReadRequestHeader>("Read Request", segment.payload);
    case Opcode::atomic_request:
      return header_text<AtomicRequestHeader>("Atomic Request", segment.payload);
    case Opcode::atomic_response:
      return header_text<AtomicResponseHeader>("Atomic Response", segment.payload);
    case Opcode::terminate:
      return terminate_text(segment.payload);
    case Opcode::immediate:
    case Opcode::immediate_solicited:
      return immediate_text(segment.payload);
    default:
      return "";
  }
}

/// RDMAP headers stand in untagged messages, at their very beginning.
bool begins_with_header(const Segment& segment) {
  return !segment.tagged && segment.untagged_header.message_offset.value() == 0;
}

}  // namespace

std::string describe_ulpdu(Bytes ulpdu) {
  const auto segment = parse_segment(ulpdu);
  if (segment)
    return describe(*segment) + (begins_with_header(*segment) ? payload_text(*segment) : "");
  if (segment.error() == SegmentError::empty) return "empty ULPDU";
  return fmt::format("DDP header cut short: {}", hex(ulpdu));
}

std::string hex(Bytes octets, std::size_t limit) {
  const std::size_t shown = std::min(octets.size(), limit);
  std::string text = base::to_hex(octets.first(shown), " ");
  if (shown < octets.size())
    text += fmt::format("{}.. (+{} octets)", shown == 0 ? "" : " ", octets.size() - shown);
  return text;
}

}  // namespace rnic::wire
