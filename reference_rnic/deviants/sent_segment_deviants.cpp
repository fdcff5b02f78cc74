// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of what DDP and RDMAP send: segmentation, lengths, header fields: one deviant for
// each.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "reference_rnic/deviants/stream_tables.hpp"
#include "reference_rnic/stream/context.hpp"
#include "reference_rnic/stream/outgoing_message.hpp"

namespace rnic::deviants {
namespace {

using stream::Context;
using stream::Decisions;
using stream::OutgoingMessage;
using stream::OutgoingSegment;
using stream::Range;
using stream::SourceRange;
using wire::Opcode;

constexpr std::uint32_t byte_swapped(std::uint32_t value) { return __builtin_bswap32(value); }
constexpr std::array<std::byte, 1> zero{};

bool is_read_response(const OutgoingSegment& segment) {
  return segment.message.opcode == Opcode::read_response;
}

// ---- lengths and payload ----

struct LastOctetNotSent : Decisions {
  void message(OutgoingMessage& message) override {
    if (message.length > 1 && message.tag.purpose == stream::Purpose::work &&
        message.header.empty())
      --message.length;
  }
};

struct ReadResponseTooShort : Decisions {
  void message(OutgoingMessage& message) override {
    if (message.opcode == Opcode::read_response && message.length > 1) --message.length;
  }
};

struct ReadResponseTooLong : Decisions {
  void message(OutgoingMessage& message) override {
    if (message.opcode == Opcode::read_response) ++message.length;
  }
  void source(const OutgoingSegment& segment, SourceRange& range) override {
    if (exceeds_request(segment) && range.length != 0) --range.length;
  }
  void payload(const OutgoingSegment& segment, std::vector<wire::Bytes>& pieces) override {
    if (exceeds_request(segment)) pieces.emplace_back(zero);
  }
  static bool exceeds_request(const OutgoingSegment& segment) {
    return is_read_response(segment) &&
           segment.from + segment.length > segment.message.source->request.length.value();
  }
};

struct ReadResponseRepeatsSegments : Decisions {
  void source(const OutgoingSegment& segment, SourceRange& range) override {
    range.offset = segment.message.source->offset;
  }
};

struct ReadResponseWrongData : Decisions {
  void payload(const OutgoingSegment& segment, std::vector<wire::Bytes>& pieces) override {
    if (!is_read_response(segment) || pieces.empty()) return;
    wrong_.assign(pieces.front().size(), std::byte{0x5A});
    pieces.front() = wrong_;
  }
  std::vector<std::byte> wrong_;
};

struct ImmediateTooShort : Decisions {
  void message(OutgoingMessage& message) override {
    if (wire::is_immediate(message.opcode)) message.length = 4;
  }
};

/// Appends octets of zero to messages whose payload is not the consumer's memory.
void append(OutgoingMessage& message, std::size_t count) {
  message.header.insert(message.header.end(), count, std::byte{0});
  message.length += count;
}

struct ImmediateTooLong : Decisions {
  void message(OutgoingMessage& message) override {
    if (wire::is_immediate(message.opcode)) append(message, 1);
  }
};

struct ReadRequestWithPayload : Decisions {
  void message(OutgoingMessage& message) override {
    if (message.opcode == Opcode::read_request) append(message, 4);
  }
};

// ---- the size of segments ----

struct MarkersForgottenInMulpdu : Decisions {
  void mulpdu(const Context& context, const Range<std::size_t>&, std::size_t& octets) override {
    if (context.negotiated.send_markers) octets = wire::mulpdu(context.config.emss, false);
  }
};

struct MulpduIgnoresEmssChange : Decisions {
  void emss(const Context& context, std::size_t& octets) override { octets = context.config.emss; }
};

struct MulpduTwiceAsLarge : Decisions {
  void mulpdu(const Context& context, const Range<std::size_t>&, std::size_t& octets) override {
    // ULPDU_Length has 16 bits.
    constexpr std::size_t largest = 60000;
    octets = std::min(2 * context.config.emss, largest);
  }
};

struct UlpduAbove64768 : Decisions {
  void mulpdu(const Context&, const Range<std::size_t>&, std::size_t& octets) override {
    octets = 65280;
  }
};

struct MulpduWithoutFloor : Decisions {
  void mulpdu(const Context& context, const Range<std::size_t>&, std::size_t& octets) override {
    // Every segment must have room for a header and some payload.
    constexpr std::size_t least = 24;
    const std::size_t emss = context.config.emss;
    const std::size_t overhead = wire::fpdu_length_size + wire::fpdu_crc_size + emss % 4 +
                                 (context.negotiated.send_markers ? wire::marker_size : 0);
    octets = std::min(octets, std::max(emss > overhead ? emss - overhead : 0, least));
  }
};

struct SegmentsHalfFull : Decisions {
  void mulpdu(const Context&, const Range<std::size_t>&, std::size_t& octets) override {
    octets = std::max(octets / 2, wire::min_mulpdu);
  }
};

// ---- control octets ----

/// Changes the control octets, which tagged and untagged segments share.
struct ControlOctets : Decisions {
  void tagged_header(const OutgoingSegment&, wire::TaggedHeader& header) override {
    change(header.ddp, header.rdmap);
  }
  void untagged_header(const OutgoingSegment&, wire::UntaggedHeader& header) override {
    change(header.ddp, header.rdmap);
  }
  virtual void change(wire::DdpControl& ddp, wire::RdmapControl& rdmap) = 0;
};

struct LBitNeverSet : ControlOctets {
  void change(wire::DdpControl& ddp, wire::RdmapControl&) override {
    ddp = wire::DdpControl::make(ddp.tagged(), false, ddp.version());
  }
};

struct LBitAlwaysSet : ControlOctets {
  void change(wire::DdpControl& ddp, wire::RdmapControl&) override {
    ddp = wire::DdpControl::make(ddp.tagged(), true, ddp.version());
  }
};

struct DdpVersionTwo : ControlOctets {
  void change(wire::DdpControl& ddp, wire::RdmapControl&) override {
    ddp = wire::DdpControl::make(ddp.tagged(), ddp.last(), 2);
  }
};

struct DdpReservedBitsSet : ControlOctets {
  void change(wire::DdpControl& ddp, wire::RdmapControl&) override {
    ddp.octet |= wire::DdpControl::reserved_mask;
  }
};

struct RdmapVersionTwo : ControlOctets {
  void change(wire::DdpControl&, wire::RdmapControl& rdmap) override {
    rdmap = wire::RdmapControl::make(rdmap.opcode(), 2);
  }
};

struct RdmapReservedBitsSet : ControlOctets {
  void change(wire::DdpControl&, wire::RdmapControl& rdmap) override {
    rdmap.octet |= wire::RdmapControl::reserved_mask;
  }
};

struct AtomicOpcodesExchanged : ControlOctets {
  void change(wire::DdpControl&, wire::RdmapControl& rdmap) override {
    if (rdmap.opcode() == Opcode::atomic_request)
      rdmap = wire::RdmapControl::make(Opcode::atomic_response, rdmap.version());
    else if (rdmap.opcode() == Opcode::atomic_response)
      rdmap = wire::RdmapControl::make(Opcode::atomic_request, rdmap.version());
  }
};

struct TerminateTBitSet : Decisions {
  void untagged_header(const OutgoingSegment& segment, wire::UntaggedHeader& header) override {
    if (segment.message.opcode == Opcode::terminate) header.ddp.octet |= wire::DdpControl::t;
  }
};

// ---- tagged segments ----

struct StagKeyNotSent : Decisions {
  void tagged_header(const OutgoingSegment&, wire::TaggedHeader& header) override {
    header.stag = header.stag.value() & 0xFFFFFF00;
  }
};

struct StagLittleEndian : Decisions {
  void tagged_header(const OutgoingSegment&, wire::TaggedHeader& header) override {
    header.stag = byte_swapped(header.stag.value());
  }
};

struct StagChangesWithinMessage : Decisions {
  void tagged_header(const OutgoingSegment& segment, wire::TaggedHeader& header) override {
    if (segment.from != 0) header.stag = header.stag.value() + 1;
  }
};

struct ToNotAdvanced : Decisions {
  void tagged_header(const OutgoingSegment& segment, wire::TaggedHeader& header) override {
    header.tagged_offset = segment.message.offset;
  }
};

struct ToFromZero : Decisions {
  void tagged_header(const OutgoingSegment& segment, wire::TaggedHeader& header) override {
    header.tagged_offset = segment.from;
  }
};

struct ReadResponseWrongStag : Decisions {
  void tagged_header(const OutgoingSegment& segment, wire::TaggedHeader& header) override {
    if (is_read_response(segment)) header.stag = header.stag.value() ^ 0x100;
  }
};

struct ReadResponseWrongOffset : Decisions {
  void tagged_header(const OutgoingSegment& segment, wire::TaggedHeader& header) override {
    if (is_read_response(segment)) header.tagged_offset = header.tagged_offset.value() + 8;
  }
};

// ---- untagged segments ----

/// Sends the messages of one queue on another.
template <wire::Queue right, wire::Queue wrong>
struct OnWrongQueue : Decisions {
  void untagged_header(const OutgoingSegment& segment, wire::UntaggedHeader& header) override {
    if (wire::queue_of(segment.message.opcode) == right)
      header.queue_number = static_cast<std::uint32_t>(wrong);
  }
};

struct InvalidateStagInEveryMessage : Decisions {
  void untagged_header(const OutgoingSegment& segment, wire::UntaggedHeader& header) override {
    if (segment.message.invalidate == 0) header.ulp_word = 0x01010101U;
  }
};

struct InvalidateStagLittleEndian : Decisions {
  void untagged_header(const OutgoingSegment& segment, wire::UntaggedHeader& header) override {
    header.ulp_word = byte_swapped(segment.message.invalidate);
  }
};

struct MsnChangesWithinMessage : Decisions {
  void untagged_header(const OutgoingSegment& segment, wire::UntaggedHeader& header) override {
    if (segment.from != 0)
      header.message_sequence_number = header.message_sequence_number.value() + 1;
  }
};

struct MoNotAdvanced : Decisions {
  void untagged_header(const OutgoingSegment&, wire::UntaggedHeader& header) override {
    header.message_offset = 0U;
  }
};

struct MoStartsAtOne : Decisions {
  void untagged_header(const OutgoingSegment&, wire::UntaggedHeader& header) override {
    header.message_offset = header.message_offset.value() + 1;
  }
};

// ---- MSNs ----

struct MsnStartsAtZero : Decisions {
  void sequence_number(const Context&, const OutgoingMessage&, std::uint32_t& msn) override {
    --msn;
  }
};

/// Continues the numbers of each queue from the one at which it finds it.
struct OwnNumbers : Decisions {
  void sequence_number(const Context&, const OutgoingMessage& message,
                       std::uint32_t& msn) override {
    auto& next = next_[static_cast<std::size_t>(wire::queue_of(message.opcode))];
    msn = next.value_or(msn);
    next = following(msn);
  }
  [[nodiscard]] virtual std::uint32_t following(std::uint32_t msn) const = 0;
  std::array<std::optional<std::uint32_t>, 4> next_;
};

struct MsnNotIncremented : OwnNumbers {
  [[nodiscard]] std::uint32_t following(std::uint32_t msn) const override { return msn; }
};

struct MsnIncrementedByTwo : OwnNumbers {
  [[nodiscard]] std::uint32_t following(std::uint32_t msn) const override { return msn + 2; }
};

struct MsnCountedInEightBits : OwnNumbers {
  [[nodiscard]] std::uint32_t following(std::uint32_t msn) const override {
    return msn == 255 ? 0 : msn + 1;
  }
};

struct MsnSharedByQueues : Decisions {
  void sequence_number(const Context& context, const OutgoingMessage& message,
                       std::uint32_t& msn) override {
    const bool is_send = wire::queue_of(message.opcode) == wire::Queue::send;
    msn = next_.value_or(is_send ? msn : context.config.first_sent.send);
    next_ = msn + 1;
  }
  std::optional<std::uint32_t> next_;
};

/// Takes the numbers of Atomic Requests from the counter of Atomic Responses, which is free in a
/// Requester that answers no Atomics.
struct AtomicRequestMsnOnItsOwn : Decisions {
  void sequence_number(const Context& context, const OutgoingMessage& message,
                       std::uint32_t& msn) override {
    if (message.opcode == Opcode::atomic_request)
      msn = context.config.first_sent.atomic_response + responses_ + requests_++;
    if (message.opcode == Opcode::read_request) msn -= requests_;
    if (message.opcode == Opcode::atomic_response) {
      msn += requests_;
      ++responses_;
    }
  }
  std::uint32_t requests_ = 0, responses_ = 0;
};

using enum wire::Queue;

// ---- header fields that are those of the message ----

struct QueueChangesWithinMessage : Decisions {
  void untagged_header(const OutgoingSegment& segment, wire::UntaggedHeader& header) override {
    if (segment.from != 0 && segment.message.opcode == Opcode::send) header.queue_number = 2U;
  }
};

struct OpcodeChangesWithinSend : Decisions {
  void untagged_header(const OutgoingSegment& segment, wire::UntaggedHeader& header) override {
    if (segment.from != 0 && segment.message.opcode == Opcode::send)
      header.rdmap = wire::RdmapControl::make(Opcode::send_solicited);
  }
};

struct OpcodeChangesWithinWrite : Decisions {
  void tagged_header(const OutgoingSegment& segment, wire::TaggedHeader& header) override {
    if (segment.from != 0 && segment.message.opcode == Opcode::rdma_write)
      header.rdmap = wire::RdmapControl::make(Opcode::read_response);
  }
};

constexpr StreamRow rows[] = {
    stream_row<QueueChangesWithinMessage>(Deviation::queue_changes_within_message),
    stream_row<OpcodeChangesWithinSend>(Deviation::opcode_changes_within_send),
    stream_row<OpcodeChangesWithinWrite>(Deviation::opcode_changes_within_write),
    stream_row<LastOctetNotSent>(Deviation::last_octet_not_sent),
    stream_row<ReadResponseTooShort>(Deviation::read_response_too_short),
    stream_row<ReadResponseTooLong>(Deviation::read_response_too_long),
    stream_row<ReadResponseRepeatsSegments>(Deviation::read_response_repeats_segments),
    stream_row<ReadResponseWrongData>(Deviation::read_response_wrong_data),
    stream_row<ImmediateTooShort>(Deviation::immediate_too_short),
    stream_row<ImmediateTooLong>(Deviation::immediate_too_long),
    stream_row<ReadRequestWithPayload>(Deviation::read_request_with_payload),
    stream_row<MarkersForgottenInMulpdu>(Deviation::markers_forgotten_in_mulpdu),
    stream_row<MulpduIgnoresEmssChange>(Deviation::mulpdu_ignores_emss_change),
    stream_row<MulpduTwiceAsLarge>(Deviation::mulpdu_twice_as_large),
    stream_row<UlpduAbove64768>(Deviation::ulpdu_above_64768),
    stream_row<MulpduWithoutFloor>(Deviation::mulpdu_without_floor),
    stream_row<SegmentsHalfFull>(Deviation::segments_half_full),
    stream_row<LBitNeverSet>(Deviation::l_bit_never_set),
    stream_row<LBitAlwaysSet>(Deviation::l_bit_always_set),
    stream_row<DdpVersionTwo>(Deviation::ddp_version_two),
    stream_row<DdpReservedBitsSet>(Deviation::ddp_reserved_bits_set),
    stream_row<RdmapVersionTwo>(Deviation::rdmap_version_two),
    stream_row<RdmapReservedBitsSet>(Deviation::rdmap_reserved_bits_set),
    stream_row<AtomicOpcodesExchanged>(Deviation::atomic_opcodes_exchanged),
    stream_row<TerminateTBitSet>(Deviation::terminate_t_bit_set),
    stream_row<StagKeyNotSent>(Deviation::stag_key_not_sent),
    stream_row<StagLittleEndian>(Deviation::stag_little_endian),
    stream_row<StagChangesWithinMessage>(Deviation::stag_changes_within_message),
    stream_row<ToNotAdvanced>(Deviation::to_not_advanced),
    stream_row<ToFromZero>(Deviation::to_from_zero),
    stream_row<ReadResponseWrongStag>(Deviation::read_response_wrong_stag),
    stream_row<ReadResponseWrongOffset>(Deviation::read_response_wrong_offset),
    stream_row<OnWrongQueue<send, read_request>>(Deviation::send_on_queue_one),
    stream_row<OnWrongQueue<read_request, send>>(Deviation::read_request_on_queue_zero),
    stream_row<OnWrongQueue<terminate, send>>(Deviation::terminate_on_queue_zero),
    stream_row<OnWrongQueue<atomic_response, read_request>>(
        Deviation::atomic_response_on_queue_one),
    stream_row<InvalidateStagInEveryMessage>(Deviation::invalidate_stag_in_every_message),
    stream_row<InvalidateStagLittleEndian>(Deviation::invalidate_stag_little_endian),
    stream_row<MsnChangesWithinMessage>(Deviation::msn_changes_within_message),
    stream_row<MoNotAdvanced>(Deviation::mo_not_advanced),
    stream_row<MoStartsAtOne>(Deviation::mo_starts_at_one),
    stream_row<MsnStartsAtZero>(Deviation::msn_starts_at_zero),
    stream_row<MsnNotIncremented>(Deviation::msn_not_incremented),
    stream_row<MsnIncrementedByTwo>(Deviation::msn_incremented_by_two),
    stream_row<MsnCountedInEightBits>(Deviation::msn_counted_in_eight_bits),
    stream_row<MsnSharedByQueues>(Deviation::msn_shared_by_queues),
    stream_row<AtomicRequestMsnOnItsOwn>(Deviation::atomic_request_msn_on_its_own),
};

}  // namespace

std::span<const StreamRow> sent_segment_deviants() { return rows; }

}  // namespace rnic::deviants
