// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/tagged_receive.hpp"

#include <utility>

namespace rnic::stream {
namespace {

/// RFC 5041 section 7.2. It has no code for missing access rights: Invalid STag stands for them
/// (docs/disputes.md).
wire::TerminateCause ddp_cause(MemoryFault fault) {
  switch (fault) {
    case MemoryFault::not_associated:
      return wire::cause::ddp_tagged_stag_not_associated;
    case MemoryFault::base_or_bounds:
      return wire::cause::ddp_tagged_base_or_bounds;
    case MemoryFault::to_wrap:
      return wire::cause::ddp_tagged_to_wrap;
    case MemoryFault::invalid_stag:
    case MemoryFault::access_rights:
    case MemoryFault::cannot_invalidate:
      break;
  }
  return wire::cause::ddp_tagged_invalid_stag;
}

const char* detail_of(MemoryFault fault) {
  switch (fault) {
    case MemoryFault::not_associated:
      return "STag is not associated with this stream";
    case MemoryFault::base_or_bounds:
      return "tagged segment is outside its buffer";
    case MemoryFault::to_wrap:
      return "tagged offset wraps";
    case MemoryFault::access_rights:
      return "STag does not allow this access";
    case MemoryFault::invalid_stag:
    case MemoryFault::cannot_invalidate:
      break;
  }
  return "no such STag";
}

}  // namespace

bool TaggedReceive::ignores(MemoryFault fault) const {
  switch (fault) {
    case MemoryFault::invalid_stag:
      return context_.deviates(Deviation::ignores_invalid_stag);
    case MemoryFault::not_associated:
      return context_.deviates(Deviation::ignores_foreign_stag);
    case MemoryFault::base_or_bounds:
      return context_.deviates(Deviation::ignores_tagged_bounds);
    case MemoryFault::to_wrap:
      return context_.deviates(Deviation::ignores_to_wrap);
    case MemoryFault::access_rights:
      return context_.deviates(Deviation::ignores_missing_write_access);
    case MemoryFault::cannot_invalidate:
      return false;
  }
  std::unreachable();
}

std::expected<TaggedReceive::Places, Fault> TaggedReceive::begin(const IncomingSegment& incoming) {
  const bool response = incoming.segment.rdmap().opcode() == wire::Opcode::read_response;
  if (response) {
    if (auto fault = check_response(incoming)) return std::unexpected(std::move(*fault));
  }
  if (!response && context_.deviates(Deviation::write_takes_receive))
    static_cast<void>(context_.memory.take_receive());
  const wire::TaggedHeader& header = incoming.segment.tagged_header;
  if (incoming.payload_length == 0) {
    // ddp.tagged.zero-length-unchecked
    if (!context_.deviates(Deviation::zero_length_tagged_checked) ||
        context_.memory.resolve(header.stag.value(), header.tagged_offset.value(), 1,
                                MemoryAccess::remote_write))
      return Places();
    return std::unexpected(incoming.fault(wire::cause::ddp_tagged_invalid_stag, "no such STag"));
  }
  return places(incoming, 0);
}

std::expected<TaggedReceive::Places, Fault> TaggedReceive::rest(const IncomingSegment& incoming,
                                                                std::size_t left) {
  return places(incoming, incoming.payload_length - left);
}

/// The memory of the payload from octet `from` on. The checks of STag, stream, base and bounds and
/// rights are the memory's: of an RNIC, StagTable::resolve() (verbs/stag_table.cpp).
std::expected<TaggedReceive::Places, Fault> TaggedReceive::places(const IncomingSegment& incoming,
                                                                  std::size_t from) {
  places_.clear();
  const wire::TaggedHeader& header = incoming.segment.tagged_header;
  const bool response = incoming.segment.rdmap().opcode() == wire::Opcode::read_response;
  const std::uint64_t offset =
      header.tagged_offset.value() + from +
      (context_.deviates(Deviation::tagged_payload_placed_one_off) ? 1 : 0);
  const auto memory =
      context_.memory.resolve(header.stag.value(), offset, incoming.payload_length - from,
                              response ? MemoryAccess::read_sink : MemoryAccess::remote_write);
  if (!memory) {
    if (!context_.decisions.conforming())
      if (ignores(memory.error())) return Places();
    return std::unexpected(incoming.fault(ddp_cause(memory.error()), detail_of(memory.error())));
  }
  places_.push_back(*memory);
  return Places(places_);
}

/// A Response must belong to the oldest Read and stay within what that asked for
/// (rdmap.read.response-validated-by-sink).
std::optional<Fault> TaggedReceive::check_response(const IncomingSegment& incoming) {
  auto* entry = send_queue_.outstanding(WorkKind::read);
  if (entry == nullptr) {
    if (context_.deviates(Deviation::accepts_unasked_read_response)) return std::nullopt;
    return incoming.fault(wire::cause::rdmap_unexpected_opcode,
                          "Read Response without a Read Request");
  }
  if (context_.deviates(Deviation::late_read_response_refused) && send_queue_.overtaken(*entry))
    return incoming.fault(wire::cause::rdmap_unexpected_opcode, "Read Response comes late");
  if (incoming.payload_length == 0) return std::nullopt;
  const wire::TaggedHeader& header = incoming.segment.tagged_header;
  if (context_.deviates(Deviation::read_response_not_matched)) return std::nullopt;
  if (header.stag.value() != entry->work.sink_stag) {
    entry->status = WorkStatus::bad_response;
    return incoming.fault(wire::cause::ddp_tagged_invalid_stag,
                          "Read Response names another sink STag");
  }
  const std::uint64_t within = header.tagged_offset.value() - entry->work.sink_offset;
  if (incoming.payload_length > entry->length || within > entry->length - incoming.payload_length) {
    entry->status = WorkStatus::bad_response;
    return incoming.fault(wire::cause::ddp_tagged_base_or_bounds,
                          "Read Response goes beyond what was asked for");
  }
  return std::nullopt;
}

std::optional<Fault> TaggedReceive::end(const IncomingSegment& incoming) {
  if (incoming.segment.rdmap().opcode() != wire::Opcode::read_response) return std::nullopt;
  auto* entry = send_queue_.outstanding(WorkKind::read);
  if (entry == nullptr) return std::nullopt;
  entry->received += incoming.payload_length;
  const bool early = context_.deviates(Deviation::read_completes_on_first_segment);
  if (!incoming.segment.ddp().last() && !early) return std::nullopt;
  if (entry->received < entry->length && !early &&
      !context_.deviates(Deviation::read_response_not_matched)) {
    entry->status = WorkStatus::bad_response;
    return incoming.fault(wire::cause::ddp_tagged_base_or_bounds,
                          "Read Response is shorter than what was asked for");
  }
  send_queue_.respond(*entry, WorkStatus::success);
  return std::nullopt;
}

}  // namespace rnic::stream
