// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of what messages of one kind look like: their T bit, queue, opcode and length, and the
// order of their segments.
#include <algorithm>
#include <array>
#include <vector>

#include "reference_rnic/deviants/stream_tables.hpp"
#include "reference_rnic/stream/outgoing_message.hpp"
#include "reference_rnic/stream/send_queue.hpp"

namespace rnic::deviants {
namespace {

using stream::Decisions;
using stream::OutgoingMessage;
using stream::OutgoingSegment;
using wire::Opcode;

// ---- the T bit, the queue, the opcode ----

/// Sends messages with this opcode as tagged if they are untagged, and the other way round.
template <Opcode opcode>
struct TagBitWrong : Decisions {
  void tagged_header(const OutgoingSegment& segment, wire::TaggedHeader& header) override {
    // A shorter one would have no whole header as an untagged segment.
    constexpr std::size_t least = wire::untagged_header_size - wire::tagged_header_size;
    if (segment.message.opcode == opcode && segment.length >= least)
      header.ddp.octet ^= wire::DdpControl::t;
  }
  void untagged_header(const OutgoingSegment& segment, wire::UntaggedHeader& header) override {
    if (segment.message.opcode == opcode) header.ddp.octet ^= wire::DdpControl::t;
  }
};

template <Opcode opcode, wire::Queue wrong>
struct KindOnWrongQueue : Decisions {
  void untagged_header(const OutgoingSegment& segment, wire::UntaggedHeader& header) override {
    if (segment.message.opcode == opcode) header.queue_number = static_cast<std::uint32_t>(wrong);
  }
};

struct ReservedOpcodeSent : Decisions {
  void untagged_header(const OutgoingSegment& segment, wire::UntaggedHeader& header) override {
    constexpr auto reserved = static_cast<Opcode>(0xC);
    if (segment.message.opcode == Opcode::send) header.rdmap = wire::RdmapControl::make(reserved);
  }
};

// ---- the length ----

/// Ends messages with this opcode four octets early.
template <Opcode opcode>
struct KindTooShort : Decisions {
  void message(OutgoingMessage& message) override {
    if (message.opcode == opcode) message.length -= 4;
  }
};

/// Sends four octets after the header of messages with this opcode.
template <Opcode opcode>
struct KindWithPayload : Decisions {
  void message(OutgoingMessage& message) override {
    if (message.opcode != opcode) return;
    message.header.insert(message.header.end(), 4, std::byte{0x5A});
    message.length += 4;
  }
};

struct AtomicOperationUndefined : Decisions {
  void atomic_request(const stream::PostedWork&, wire::AtomicRequestHeader& header) override {
    header.operation = (header.operation.value() & ~0xFU) | 0x7U;
  }
};

// ---- the order of segments ----

/// `length` octets of the consumer's memory from octet `from` of the message on.
std::vector<wire::Bytes> part_of(const OutgoingMessage& message, std::uint64_t from,
                                 std::size_t length) {
  std::vector<wire::Bytes> pieces;
  for (const wire::Bytes piece : message.gather) {
    const auto skipped = static_cast<std::size_t>(std::min<std::uint64_t>(from, piece.size()));
    const std::size_t here = std::min(length, piece.size() - skipped);
    if (here != 0) pieces.push_back(piece.subspan(skipped, here));
    from -= skipped;
    length -= here;
  }
  return pieces;
}

/// Sends segments of the consumer's memory in another order, which `place_of` gives.
struct SegmentsMoved : Decisions {
  /// The octet of the message that the segment begins with; `segment.from` conforms to the RFC.
  [[nodiscard]] virtual std::uint64_t place_of(const OutgoingSegment& segment) const = 0;

  void tagged_header(const OutgoingSegment& segment, wire::TaggedHeader& header) override {
    if (!segment.message.gather.empty())
      header.tagged_offset = segment.message.offset + place_of(segment);
  }
  void untagged_header(const OutgoingSegment& segment, wire::UntaggedHeader& header) override {
    if (!segment.message.gather.empty())
      header.message_offset = static_cast<std::uint32_t>(place_of(segment));
  }
  void payload(const OutgoingSegment& segment, std::vector<wire::Bytes>& pieces) override {
    if (!segment.message.gather.empty() && place_of(segment) != segment.from)
      pieces = part_of(segment.message, place_of(segment), segment.length);
  }
};

/// The second and the third segment, if the third is not the last.
template <bool tagged>
struct SegmentsExchanged : SegmentsMoved {
  [[nodiscard]] std::uint64_t place_of(const OutgoingSegment& segment) const override {
    const std::uint64_t from = segment.from, length = segment.length;
    if (wire::is_tagged(segment.message.opcode) != tagged || length == 0) return from;
    if (from == length && 3 * length < segment.message.length) return 2 * length;
    if (from == 2 * length && 3 * length < segment.message.length) return length;
    return from;
  }
};

/// The last segment is sent before the one that precedes it in the message. With `flag_moves` L moves
/// with the octets; otherwise the segment that is sent last has it.
template <bool flag_moves>
struct LastSegmentEarly : SegmentsMoved {
  [[nodiscard]] std::uint64_t place_of(const OutgoingSegment& segment) const override {
    const std::uint64_t end = segment.from + segment.length, whole = segment.message.length;
    if (end == whole && segment.from == before_) return segment.from - exchanged_;
    if (segment.from != 0 && end < whole && whole - end <= segment.length)
      return whole - segment.length;
    return segment.from;
  }
  void untagged_header(const OutgoingSegment& segment, wire::UntaggedHeader& header) override {
    const std::uint64_t place = place_of(segment);
    SegmentsMoved::untagged_header(segment, header);
    if (place > segment.from) {
      before_ = segment.from + segment.length;
      exchanged_ = segment.length;
    }
    if (flag_moves && place != segment.from)
      header.ddp = wire::DdpControl::make(false, place > segment.from);
  }
  /// Where the last segment begins, and how long the one before it is.
  std::uint64_t before_ = 0, exchanged_ = 0;
};

// ---- the Responses ----

/// Answers each Atomic this many times.
template <std::size_t times>
struct AtomicAnswered : Decisions {
  void atomic_admitted(const stream::Context&, const wire::AtomicRequestHeader&,
                       stream::Admission& admission) override {
    if (!admission.fault) admission.responses = times;
  }
};

using wire::Queue;

constexpr StreamRow rows[] = {
    stream_row<TagBitWrong<Opcode::rdma_write>>(Deviation::write_sent_untagged),
    stream_row<TagBitWrong<Opcode::read_response>>(Deviation::read_response_sent_untagged),
    stream_row<TagBitWrong<Opcode::send>>(Deviation::send_sent_tagged),
    stream_row<TagBitWrong<Opcode::read_request>>(Deviation::read_request_sent_tagged),
    stream_row<TagBitWrong<Opcode::immediate>>(Deviation::immediate_sent_tagged),
    stream_row<TagBitWrong<Opcode::atomic_request>>(Deviation::atomic_request_sent_tagged),
    stream_row<TagBitWrong<Opcode::atomic_response>>(Deviation::atomic_response_sent_tagged),
    stream_row<KindOnWrongQueue<Opcode::immediate, Queue::read_request>>(
        Deviation::immediate_on_queue_one),
    stream_row<KindOnWrongQueue<Opcode::atomic_request, Queue::send>>(
        Deviation::atomic_request_on_queue_zero),
    stream_row<KindOnWrongQueue<Opcode::send, Queue::atomic_response>>(
        Deviation::send_on_queue_three),
    stream_row<ReservedOpcodeSent>(Deviation::reserved_opcode_sent),
    stream_row<KindTooShort<Opcode::atomic_request>>(Deviation::atomic_request_too_short),
    stream_row<KindTooShort<Opcode::atomic_response>>(Deviation::atomic_response_too_short),
    stream_row<KindWithPayload<Opcode::atomic_request>>(Deviation::atomic_request_with_payload),
    stream_row<KindWithPayload<Opcode::terminate>>(Deviation::terminate_with_payload),
    stream_row<AtomicOperationUndefined>(Deviation::atomic_operation_undefined),
    stream_row<SegmentsExchanged<true>>(Deviation::write_segments_exchanged),
    stream_row<SegmentsExchanged<false>>(Deviation::send_segments_exchanged),
    stream_row<LastSegmentEarly<true>>(Deviation::last_segment_sent_early),
    stream_row<LastSegmentEarly<false>>(Deviation::l_bit_below_the_highest_offset),
    stream_row<AtomicAnswered<0>>(Deviation::atomic_request_unanswered),
    stream_row<AtomicAnswered<2>>(Deviation::atomic_answered_twice),
};

}  // namespace

std::span<const StreamRow> sent_message_deviants() { return rows; }

}  // namespace rnic::deviants
