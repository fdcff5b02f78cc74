// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/segmenter.hpp"

#include <algorithm>
#include <cassert>

namespace rnic::stream {
namespace {

constexpr std::size_t index_of(wire::Queue queue) { return static_cast<std::size_t>(queue); }

}  // namespace

wire::TerminateCause rdmap_cause(MemoryFault fault) {
  switch (fault) {
    case MemoryFault::invalid_stag:
      return wire::cause::rdmap_invalid_stag;
    case MemoryFault::not_associated:
      return wire::cause::rdmap_stag_not_associated;
    case MemoryFault::base_or_bounds:
      return wire::cause::rdmap_base_or_bounds;
    case MemoryFault::access_rights:
      return wire::cause::rdmap_access_rights;
    case MemoryFault::to_wrap:
      return wire::cause::rdmap_to_wrap;
    case MemoryFault::cannot_invalidate:
      return wire::cause::rdmap_protection_cannot_invalidate;
  }
  return wire::cause::rdmap_protection_unspecified;
}

Segmenter::Segmenter(Context& context, Transmitter& transmitter)
    : context_(context), transmitter_(transmitter), pieces_(context.scratch.pieces) {
  const auto& first = context.config.first_sent;
  next_msn_ = {first.send, first.read_request, first.terminate, first.atomic_response};
}

std::optional<MessageTag> Segmenter::current() const {
  if (!message_) return std::nullopt;
  return message_->tag;
}

/// Each queue has its own numbers, modulo 2^32 (RFC 5041 section 4.3;
/// ddp.untagged.msn-wraps-to-zero).
std::uint32_t Segmenter::take_sequence_number() {
  std::uint32_t msn = next_msn_[index_of(wire::queue_of(message_->opcode))]++;
  context_.decisions.ask(&Decisions::sequence_number, context_, *message_, msn);
  return msn;
}

void Segmenter::begin(OutgoingMessage&& message) {
  assert(!message_);
  message_ = std::move(message);
  sent_ = 0;
  context_.decisions.ask(&Decisions::message, *message_);
  if (!wire::is_tagged(message_->opcode)) msn_ = take_sequence_number();
}

std::size_t Segmenter::mulpdu() const {
  const std::size_t size = wire::mulpdu(context_.config.emss, context_.negotiated.send_markers);
  const Range<std::size_t> range{"mpa.segmentation.mulpdu-may-vary", size, wire::min_mulpdu, size};
  return context_.decisions.decide(range, &Decisions::mulpdu, context_);
}

std::size_t Segmenter::payload_limit() const {
  return mulpdu() - (wire::is_tagged(message_->opcode) ? wire::tagged_header_size
                                                       : wire::untagged_header_size);
}

/// RFC 5041 section 4.2, RFC 5040 section 4.1.
wire::TaggedHeader Segmenter::tagged_header(const OutgoingSegment& segment) const {
  wire::TaggedHeader header;
  header.ddp = wire::DdpControl::make(true, is_last(segment));
  header.rdmap = wire::RdmapControl::make(message_->opcode);
  header.stag = message_->stag;
  header.tagged_offset = message_->offset + segment.from;
  context_.decisions.ask(&Decisions::tagged_header, segment, header);
  return header;
}

/// RFC 5041 section 4.3, RFC 5040 section 4.1.
wire::UntaggedHeader Segmenter::untagged_header(const OutgoingSegment& segment) const {
  wire::UntaggedHeader header;
  header.ddp = wire::DdpControl::make(false, is_last(segment));
  header.rdmap = wire::RdmapControl::make(message_->opcode);
  header.ulp_word = message_->invalidate;
  header.queue_number = static_cast<std::uint32_t>(wire::queue_of(message_->opcode));
  header.message_sequence_number = msn_;
  header.message_offset = static_cast<std::uint32_t>(segment.from);
  context_.decisions.ask(&Decisions::untagged_header, segment, header);
  return header;
}

/// Collects the pieces of consumer memory (or of our own header) that a segment carries.
void Segmenter::collect(std::uint64_t from, std::size_t length) {
  const auto add = [&](wire::Bytes piece) {
    const std::uint64_t skipped = std::min<std::uint64_t>(from, piece.size());
    from -= skipped;
    const std::size_t here = std::min(length, piece.size() - static_cast<std::size_t>(skipped));
    if (here != 0) pieces_.push_back(piece.subspan(static_cast<std::size_t>(skipped), here));
    length -= here;
  };
  add(message_->header);
  for (const wire::Bytes piece : message_->gather) {
    if (length == 0) break;
    add(piece);
  }
}

/// Collects the octets of a Read Response that a segment carries. They are checked again: the
/// source may have been invalidated since the last segment.
std::expected<void, Fault> Segmenter::collect_source(const OutgoingSegment& segment) {
  const OutgoingMessage::Source& source = *message_->source;
  SourceRange range{source.offset + segment.from, segment.length};
  context_.decisions.ask(&Decisions::source, segment, range);
  if (range.length == 0) return {};  // rdmap.read.zero-length-not-validated
  const auto memory =
      context_.memory.resolve(source.stag, range.offset, range.length, MemoryAccess::remote_read);
  if (!memory) return std::unexpected(source_fault(memory.error(), segment));
  pieces_.emplace_back(*memory);
  return {};
}

Fault Segmenter::source_fault(MemoryFault reason, const OutgoingSegment& segment) const {
  const OutgoingMessage::Source& source = *message_->source;
  // The copied header says how far the Read got (RFC 5040 section 4.8).
  wire::ReadRequestHeader rest = source.request;
  rest.sink_offset = source.request.sink_offset.value() + segment.from;
  rest.source_offset = source.offset + segment.from;
  rest.length = static_cast<std::uint32_t>(message_->length - segment.from);
  context_.decisions.ask(&Decisions::terminated_read, segment, rest);
  return {rdmap_cause(reason), "source of a Read Response is not accessible",
          source.request_segment, rest};
}

std::expected<void, Fault> Segmenter::step() {
  assert(message_);
  const std::uint64_t left = message_->length - sent_;
  const OutgoingSegment segment{
      *message_, sent_, static_cast<std::size_t>(std::min<std::uint64_t>(left, payload_limit()))};
  std::array<std::byte, wire::untagged_header_size> header_octets;
  wire::Writer header(header_octets);
  if (wire::is_tagged(message_->opcode))
    header.write(tagged_header(segment));
  else
    header.write(untagged_header(segment));

  pieces_.clear();
  if (!message_->source) {
    collect(segment.from, segment.length);
  } else if (auto collected = collect_source(segment); !collected) {
    return collected;
  }
  context_.decisions.ask(&Decisions::payload, segment, pieces_);
  const bool last = is_last(segment);
  // Only the consumer's memory stays unchanged until the FPDU is transmitted.
  const bool copy = message_->gather.empty();
  transmitter_.queue_fpdu(header.written(), pieces_, copy, message_->tag, last);
  sent_ += segment.length;
  if (last) message_.reset();
  return {};
}

}  // namespace rnic::stream
