// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/untagged_receive.hpp"

#include <algorithm>

#include "reference_rnic/wire/rdmap.hpp"
#include "reference_rnic/wire/terminate.hpp"

namespace rnic::stream {
namespace {

using wire::Opcode;
using wire::Queue;

/// Segments of one message may differ in their opcode (RFC 5041 section 4.3 has nobody compare
/// them), but not in who takes the payload.
bool same_taker(Opcode a, Opcode b) {
  return wire::is_immediate(a) == wire::is_immediate(b) &&
         (a == Opcode::atomic_request) == (b == Opcode::atomic_request);
}

bool is_empty(const IncomingSegment& incoming) {
  return incoming.payload_length == 0 && incoming.segment.ddp().last();
}

}  // namespace

UntaggedReceive::UntaggedReceive(Context& context, SendQueue& send_queue,
                                 const ReadQueue& read_queue)
    : context_(context), send_queue_(send_queue), read_queue_(read_queue) {
  const auto& first = context.config.first_expected;
  const std::array numbers{first.send, first.read_request, first.terminate, first.atomic_response};
  for (std::size_t i = 0; i < queues_.size(); ++i) queues_[i].expected = numbers[i];
}

UntaggedReceive::QueueState& UntaggedReceive::state_of(const IncomingSegment& incoming) {
  const std::uint32_t number = incoming.segment.untagged_header.queue_number.value();
  return queues_[number < queues_.size() ? number : 0];
}

std::expected<UntaggedReceive::Places, Fault> UntaggedReceive::begin(
    const IncomingSegment& incoming, bool rtr) {
  const wire::UntaggedHeader& header = incoming.segment.untagged_header;
  QueueState& state = state_of(incoming);
  // ddp.untagged.check-msn-in-range: on an ordered LLP only the message in progress or the next one
  // can come.
  if (header.message_sequence_number.value() != state.expected &&
      !context_.deviates(Deviation::accepts_any_msn) &&
      !(&state == &queues_[1] && context_.deviates(Deviation::read_request_msn_unchecked)))
    return std::unexpected(
        incoming.fault(wire::cause::ddp_untagged_msn_out_of_range, "MSN is not the next one"));
  if (!state.open) {
    if (auto fault = open(state, incoming, rtr)) return std::unexpected(std::move(*fault));
  } else if (!same_taker(state.opcode, incoming.segment.rdmap().opcode())) {
    return std::unexpected(
        incoming.fault(wire::cause::rdmap_unexpected_opcode, "opcode changes within a message"));
  }
  if (!context_.decisions.conforming()) note_oddities(state, incoming);
  if (auto fault = check_offset(state, incoming)) return std::unexpected(std::move(*fault));
  return rest(incoming, incoming.payload_length);
}

void UntaggedReceive::note_oddities(QueueState& state, const IncomingSegment& incoming) {
  const std::size_t offset = incoming.segment.untagged_header.message_offset.value();
  if (offset == 0) state.spoiled = false;
  if (offset != 0 && offset != state.next_offset &&
      context_.deviates(Deviation::message_with_a_gap_lost))
    state.spoiled = true;
  if (state.opcode != incoming.segment.rdmap().opcode() &&
      context_.deviates(Deviation::message_of_two_opcodes_lost))
    state.spoiled = true;
  state.next_offset = offset + incoming.payload_length;
}

void UntaggedReceive::skip(const IncomingSegment& incoming) {
  QueueState& state = state_of(incoming);
  if (!incoming.segment.ddp().last()) return;
  state.open = false;
  state.buffer.reset();
  ++state.expected;
}

UntaggedReceive::Places UntaggedReceive::rest(const IncomingSegment& incoming, std::size_t left) {
  places_.clear();
  std::size_t offset = incoming.segment.untagged_header.message_offset.value();
  if (context_.deviates(Deviation::message_offset_ignored)) offset = 0;
  slice(state_of(incoming), offset + incoming.payload_length - left, left);
  return Places(places_);
}

std::optional<Fault> UntaggedReceive::open(QueueState& state, const IncomingSegment& incoming,
                                           bool rtr) {
  const Opcode opcode = incoming.segment.rdmap().opcode();
  state.opcode = opcode;
  switch (static_cast<Queue>(&state - queues_.data())) {
    case Queue::send:
      if (auto fault = open_send(state, incoming, rtr)) return fault;
      break;
    case Queue::read_request:
      // rdmap.resources.inbound-limit-kept: beyond the IRD there is no untagged buffer.
      if (context_.deviates(Deviation::read_request_takes_receive))
        static_cast<void>(context_.memory.take_receive());
      if (context_.deviates(Deviation::read_request_needs_receive) &&
          !context_.memory.take_receive())
        return incoming.fault(wire::cause::ddp_untagged_no_buffer, "no receive is posted");
      if (opcode == Opcode::atomic_request && context_.deviates(Deviation::atomic_takes_receive))
        static_cast<void>(context_.memory.take_receive());
      if (!read_queue_.has_room(opcode))
        return incoming.fault(wire::cause::ddp_untagged_no_buffer,
                              "more Read Requests than the IRD allows");
      state.capacity = opcode == Opcode::atomic_request ? sizeof(wire::AtomicRequestHeader)
                                                        : sizeof(wire::ReadRequestHeader);
      break;
    case Queue::terminate:
      state.capacity = wire::max_terminate_size;
      break;
    case Queue::atomic_response:
      if (send_queue_.outstanding(WorkKind::atomic) == nullptr)
        return incoming.fault(wire::cause::ddp_untagged_no_buffer,
                              "Atomic Response without an Atomic Request");
      if (context_.deviates(Deviation::atomic_response_takes_receive))
        static_cast<void>(context_.memory.take_receive());
      if (send_queue_.responses_due() > 1 &&
          context_.deviates(Deviation::second_atomic_response_refused))
        return incoming.fault(wire::cause::ddp_untagged_no_buffer,
                              "one buffer for Atomic Responses");
      state.capacity = sizeof(wire::AtomicResponseHeader);
      break;
  }
  state.own.fill(std::byte{0});
  state.open = true;
  return std::nullopt;
}

std::optional<Fault> UntaggedReceive::open_send(QueueState& state, const IncomingSegment& incoming,
                                                bool rtr) {
  if (rtr) return std::nullopt;
  if (is_empty(incoming) && context_.deviates(Deviation::zero_length_send_takes_no_buffer))
    return std::nullopt;
  if (is_empty(incoming) && state.opcode == Opcode::send_solicited &&
      context_.deviates(Deviation::empty_solicited_send_takes_no_buffer))
    return std::nullopt;
  if (is_empty(incoming) && context_.deviates(Deviation::zero_length_send_refused))
    return incoming.fault(wire::cause::ddp_untagged_message_too_long, "zero-length Send");
  const bool immediate = wire::is_immediate(state.opcode);
  if (immediate) state.capacity = wire::immediate_size;
  if (immediate && context_.deviates(Deviation::immediate_takes_no_buffer)) return std::nullopt;
  state.buffer = context_.memory.take_receive();
  // ddp.untagged.check-buffer-available
  if (!state.buffer)
    return incoming.fault(wire::cause::ddp_untagged_no_buffer, "no receive buffer for the message");
  if (!immediate) state.capacity = state.buffer->capacity;
  return std::nullopt;
}

/// ddp.untagged.check-mo-in-range, ddp.untagged.check-end-in-range
std::optional<Fault> UntaggedReceive::check_offset(const QueueState& state,
                                                   const IncomingSegment& incoming) {
  const std::size_t offset = incoming.segment.untagged_header.message_offset.value();
  const std::size_t end = offset + incoming.payload_length;
  if (static_cast<std::uint32_t>(end) <= state.capacity &&
      context_.deviates(Deviation::message_offset_wraps))
    return std::nullopt;
  if (offset > state.capacity && !context_.deviates(Deviation::message_offset_unchecked))
    return incoming.fault(wire::cause::ddp_untagged_invalid_offset, "MO is outside the buffer");
  if (end > state.capacity && !context_.deviates(Deviation::too_long_message_truncated)) {
    too_long_ = true;
    return incoming.fault(wire::cause::ddp_untagged_message_too_long,
                          "message is longer than its buffer");
  }
  return std::nullopt;
}

/// The places of `length` octets from `from` on; octets beyond the buffer (which only a deviation
/// lets through) have none.
void UntaggedReceive::slice(QueueState& state, std::size_t from, std::size_t length) {
  const auto add = [&](wire::MutableBytes piece) {
    const std::size_t skipped = std::min(from, piece.size());
    from -= skipped;
    const std::size_t here = std::min(length, piece.size() - skipped);
    if (here != 0) places_.push_back(piece.subspan(skipped, here));
    length -= here;
  };
  // What a deviation places before a buffer is taken may find the capacity of an earlier one.
  const std::size_t own = std::min(state.capacity, state.own.size());
  if (!state.buffer || wire::is_immediate(state.opcode))
    return add(wire::MutableBytes(state.own).first(own));
  for (const wire::MutableBytes piece : state.buffer->pieces) add(piece);
}

std::optional<UntaggedReceive::Delivered> UntaggedReceive::end(const IncomingSegment& incoming) {
  QueueState& state = state_of(incoming);
  const bool full = state.buffer && state.next_offset == state.capacity &&
                    context_.deviates(Deviation::full_buffer_delivers);
  const bool early = state.opcode == Opcode::atomic_request &&
                     context_.deviates(Deviation::atomic_executed_on_first_segment);
  if (!incoming.segment.ddp().last() && !full && !early &&
      !context_.deviates(Deviation::delivers_before_last_segment))
    return std::nullopt;
  if (!context_.decisions.conforming()) {
    if (state.spoiled) {
      skip(incoming);
      return std::nullopt;
    }
  }
  Delivered delivered;
  delivered.queue = static_cast<Queue>(&state - queues_.data());
  // ddp.delivery.message-length-given
  delivered.length =
      incoming.segment.untagged_header.message_offset.value() + incoming.payload_length;
  if (early) delivered.length = sizeof(wire::AtomicRequestHeader);
  delivered.octets = wire::Bytes(state.own).first(std::min(delivered.length, state.own.size()));
  if (state.buffer) delivered.work_id = state.buffer->work_id;
  if (context_.deviates(Deviation::received_length_wrong))
    delivered.length = incoming.payload_length;
  state.open = false;
  state.buffer.reset();
  ++state.expected;  // modulo 2^32 (ddp.untagged.msn-wraps-to-zero)
  return delivered;
}

std::optional<ReceiveFailed> UntaggedReceive::give_up() {
  QueueState& state = queues_[0];
  if (!state.buffer) return std::nullopt;
  const ReceiveFailed failed{state.buffer->work_id, too_long_};
  state.buffer.reset();
  return failed;
}

}  // namespace rnic::stream
