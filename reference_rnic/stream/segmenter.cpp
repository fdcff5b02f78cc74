// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/segmenter.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace rnic::stream {
namespace {

/// What the deviations of mulpdu() keep to: ULPDU_Length can say it, and every segment has payload.
constexpr std::size_t most_of_twice_as_large = 60000, least_without_floor = 24;

constexpr std::size_t index_of(wire::Queue queue) { return static_cast<std::size_t>(queue); }

constexpr std::uint32_t byte_swapped(std::uint32_t value) { return __builtin_bswap32(value); }

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
    : context_(context), transmitter_(transmitter), emss_at_start_(context.config.emss) {
  const auto& first = context.config.first_sent;
  next_msn_ = {first.send, first.read_request, first.terminate, first.atomic_response};
  if (context.deviates(Deviation::msn_starts_at_zero))
    for (std::uint32_t& msn : next_msn_) --msn;
}

std::optional<MessageTag> Segmenter::current() const {
  if (!message_) return std::nullopt;
  return message_->tag;
}

std::uint32_t Segmenter::take_sequence_number() {
  wire::Queue queue = wire::queue_of(message_->opcode);
  if (message_->opcode == wire::Opcode::atomic_request &&
      context_.deviates(Deviation::atomic_request_msn_on_its_own))
    queue = wire::Queue::atomic_response;  // its counter, in a Requester that answers no Atomics
  // All queues count by themselves (RFC 5041 section 4.3).
  const bool shared = context_.deviates(Deviation::msn_shared_by_queues);
  std::uint32_t& next = next_msn_[shared ? 0 : index_of(queue)];
  const std::uint32_t msn = next;
  // Modulo 2^32 (ddp.untagged.msn-wraps-to-zero).
  if (!context_.deviates(Deviation::msn_not_incremented)) ++next;
  if (context_.deviates(Deviation::msn_incremented_by_two)) ++next;
  if (next == 256 && context_.deviates(Deviation::msn_counted_in_eight_bits)) next = 0;
  return msn;
}

void Segmenter::begin(OutgoingMessage message) {
  assert(!message_);
  message_ = std::move(message);
  sent_ = 0;
  if (!context_.decisions.conforming()) spoil_length();
  if (!wire::is_tagged(message_->opcode)) msn_ = take_sequence_number();
}

/// Messages that are longer or shorter than they should be.
void Segmenter::spoil_length() {
  OutgoingMessage& message = *message_;
  filler_.clear();
  const auto append = [&](std::size_t count) {
    filler_.assign(count, std::byte{0});
    message.length += count;
  };
  if (message.length > 1 && context_.deviates(Deviation::last_octet_not_sent) &&
      message.tag.purpose == Purpose::work && message.header.empty())
    --message.length;
  if (message.opcode == wire::Opcode::read_response) {
    if (message.length > 1 && context_.deviates(Deviation::read_response_too_short))
      --message.length;
    if (context_.deviates(Deviation::read_response_too_long)) append(1);
  }
  if (wire::is_immediate(message.opcode)) {
    if (context_.deviates(Deviation::immediate_too_short)) message.length = 4;
    if (context_.deviates(Deviation::immediate_too_long)) append(1);
  }
  if (message.opcode == wire::Opcode::read_request &&
      context_.deviates(Deviation::read_request_with_payload))
    append(4);
}

std::size_t Segmenter::mulpdu() const {
  const bool live = !context_.deviates(Deviation::mulpdu_ignores_emss_change);
  const std::size_t emss = live ? context_.config.emss : emss_at_start_;
  if (context_.deviates(Deviation::mulpdu_twice_as_large))
    return std::min(2 * emss, most_of_twice_as_large);
  const std::size_t size = wire::mulpdu(emss, context_.negotiated.send_markers);
  if (context_.deviates(Deviation::mulpdu_without_floor)) {
    const std::size_t overhead = wire::fpdu_length_size + wire::fpdu_crc_size + emss % 4 +
                                 (context_.negotiated.send_markers ? wire::marker_size : 0);
    return std::min(size, std::max(emss > overhead ? emss - overhead : 0, least_without_floor));
  }
  if (context_.deviates(Deviation::segments_half_full)) return std::max(size / 2, wire::min_mulpdu);
  return size;
}

std::size_t Segmenter::header_size() const {
  return wire::is_tagged(message_->opcode) ? wire::tagged_header_size : wire::untagged_header_size;
}

std::size_t Segmenter::payload_limit() const { return mulpdu() - header_size(); }

wire::DdpControl Segmenter::ddp_control(bool last) const {
  bool flag = last;
  if (context_.deviates(Deviation::l_bit_never_set)) flag = false;
  if (context_.deviates(Deviation::l_bit_always_set)) flag = true;
  const std::uint8_t version =
      context_.deviates(Deviation::ddp_version_two) ? 2 : wire::ddp_version;
  const bool in_wrong_buffer = message_->opcode == wire::Opcode::terminate &&
                               context_.deviates(Deviation::terminate_t_bit_set);
  wire::DdpControl control =
      wire::DdpControl::make(wire::is_tagged(message_->opcode) || in_wrong_buffer, flag, version);
  if (context_.deviates(Deviation::ddp_reserved_bits_set))
    control.octet |= wire::DdpControl::reserved_mask;
  return control;
}

wire::RdmapControl Segmenter::rdmap_control() const {
  const std::uint8_t version =
      context_.deviates(Deviation::rdmap_version_two) ? 2 : wire::rdmap_version;
  wire::Opcode opcode = message_->opcode;
  if (context_.deviates(Deviation::atomic_opcodes_exchanged)) {
    if (opcode == wire::Opcode::atomic_request)
      opcode = wire::Opcode::atomic_response;
    else if (opcode == wire::Opcode::atomic_response)
      opcode = wire::Opcode::atomic_request;
  }
  wire::RdmapControl control = wire::RdmapControl::make(opcode, version);
  if (context_.deviates(Deviation::rdmap_reserved_bits_set))
    control.octet |= wire::RdmapControl::reserved_mask;
  return control;
}

wire::TaggedHeader Segmenter::tagged_header(bool last) const {
  wire::TaggedHeader header;
  header.ddp = ddp_control(last);
  header.rdmap = rdmap_control();
  std::uint32_t stag = message_->stag;
  if (context_.deviates(Deviation::stag_key_not_sent)) stag &= 0xFFFFFF00;
  if (context_.deviates(Deviation::stag_little_endian)) stag = byte_swapped(stag);
  if (sent_ != 0 && context_.deviates(Deviation::stag_changes_within_message)) ++stag;
  std::uint64_t offset = message_->offset + sent_;
  if (context_.deviates(Deviation::to_not_advanced)) offset = message_->offset;
  if (context_.deviates(Deviation::to_from_zero)) offset = sent_;
  if (message_->opcode == wire::Opcode::read_response) {
    if (context_.deviates(Deviation::read_response_wrong_stag)) stag ^= 0x100;
    if (context_.deviates(Deviation::read_response_wrong_offset)) offset += 8;
  }
  header.stag = stag;
  header.tagged_offset = offset;
  return header;
}

std::uint32_t Segmenter::queue_number() const {
  const wire::Queue queue = wire::queue_of(message_->opcode);
  if (queue == wire::Queue::send && context_.deviates(Deviation::send_on_queue_one)) return 1;
  if (queue == wire::Queue::read_request &&
      context_.deviates(Deviation::read_request_on_queue_zero))
    return 0;
  if (queue == wire::Queue::terminate && context_.deviates(Deviation::terminate_on_queue_zero))
    return 0;
  if (queue == wire::Queue::atomic_response &&
      context_.deviates(Deviation::atomic_response_on_queue_one))
    return 1;
  return static_cast<std::uint32_t>(queue);
}

wire::UntaggedHeader Segmenter::untagged_header(bool last) const {
  wire::UntaggedHeader header;
  header.ddp = ddp_control(last);
  header.rdmap = rdmap_control();
  header.ulp_word = message_->invalidate;
  if (context_.deviates(Deviation::invalidate_stag_in_every_message) && message_->invalidate == 0)
    header.ulp_word = 0x01010101U;
  if (context_.deviates(Deviation::invalidate_stag_little_endian))
    header.ulp_word = byte_swapped(message_->invalidate);
  header.queue_number = queue_number();
  std::uint32_t msn = msn_;
  if (sent_ != 0 && context_.deviates(Deviation::msn_changes_within_message)) ++msn;
  header.message_sequence_number = msn;
  std::uint32_t mo = static_cast<std::uint32_t>(sent_);
  if (context_.deviates(Deviation::mo_not_advanced)) mo = 0;
  if (context_.deviates(Deviation::mo_starts_at_one)) ++mo;
  header.message_offset = mo;
  return header;
}

/// The pieces of consumer memory (or of our own header) that hold `length` octets of the message
/// from octet `from` on.
std::span<const wire::Bytes> Segmenter::slice(std::uint64_t from, std::size_t length) {
  pieces_.clear();
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
  if (!context_.decisions.conforming()) add(filler_);
  return pieces_;
}

/// The next `length` octets of a Read Response, checked anew: the source may have been invalidated
/// since the last segment.
std::expected<std::span<const wire::Bytes>, Fault> Segmenter::source_octets(std::size_t length) {
  const OutgoingMessage::Source& source = *message_->source;
  const bool repeats = context_.deviates(Deviation::read_response_repeats_segments);
  const std::uint64_t from = source.offset + (repeats ? 0 : sent_);
  bool excess = false;  // beyond what was asked for, by a deviation
  if (!context_.decisions.conforming()) {
    excess = sent_ + length > source.request.length.value();
    if (excess) length -= filler_.size();
  }
  pieces_.clear();
  if (length != 0) {
    const auto memory =
        context_.memory.resolve(source.stag, from, length, MemoryAccess::remote_read);
    if (!memory) return std::unexpected(source_fault(memory.error()));
    pieces_.emplace_back(*memory);
    if (context_.deviates(Deviation::read_response_wrong_data)) {
      wrong_data_.assign(length, std::byte{0x5A});
      pieces_.back() = wrong_data_;
    }
  }
  if (!context_.decisions.conforming())
    if (excess) pieces_.emplace_back(filler_);
  return std::span<const wire::Bytes>(pieces_);
}

Fault Segmenter::source_fault(MemoryFault reason) const {
  const OutgoingMessage::Source& source = *message_->source;
  Fault fault{rdmap_cause(reason), "source of a Read Response is not accessible",
              source.request_segment, source.request};
  if (context_.deviates(Deviation::terminated_read_stags_lost))
    fault.request->sink_stag = fault.request->source_stag = 0U;
  // The copied header tells how far the Read came (RFC 5040 section 4.8).
  if (!context_.deviates(Deviation::terminated_read_not_advanced)) {
    fault.request->sink_offset = source.request.sink_offset.value() + sent_;
    fault.request->source_offset = source.offset + sent_;
    fault.request->length = static_cast<std::uint32_t>(message_->length - sent_);
  }
  return fault;
}

std::expected<void, Fault> Segmenter::step() {
  assert(message_);
  const std::uint64_t left = message_->length - sent_;
  const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(left, payload_limit()));
  const bool last = length == left;
  std::array<std::byte, wire::untagged_header_size> header_octets;
  wire::Writer header(header_octets);
  if (wire::is_tagged(message_->opcode))
    header.write(tagged_header(last));
  else
    header.write(untagged_header(last));

  if (message_->source && length != 0) {
    auto octets = source_octets(length);
    if (!octets) return std::unexpected(std::move(octets.error()));
    transmitter_.queue_fpdu(header.written(), *octets, true, message_->tag, last);
  } else {
    const bool own = message_->gather.empty();
    transmitter_.queue_fpdu(header.written(), slice(sent_, length), own, message_->tag, last);
  }
  sent_ += length;
  if (last) message_.reset();
  return {};
}

}  // namespace rnic::stream
