// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/untagged_receive.hpp"

#include <algorithm>
#include <utility>

#include "reference_rnic/wire/rdmap.hpp"
#include "reference_rnic/wire/terminate.hpp"

namespace rnic::stream {
namespace {

using wire::Opcode;
using wire::Queue;

/// A Terminate: nothing else that is received without a buffer of the consumer is longer.
constexpr std::size_t longest_own = wire::max_terminate_size;

/// Segments of one message may differ in their opcode (RFC 5041 section 4.3 does not have them
/// compared), but not in who uses the payload.
bool same_taker(Opcode a, Opcode b) {
  return wire::is_immediate(a) == wire::is_immediate(b) &&
         (a == Opcode::atomic_request) == (b == Opcode::atomic_request);
}

}  // namespace

/// Whether the payload goes to a buffer of the consumer. That of Immediate Data is reported.
bool UntaggedReceive::takes_buffer(const QueueState& state) const {
  return has_buffer(state) && !wire::is_immediate(state.opcode);
}

UntaggedReceive::UntaggedReceive(Context& context, SendQueue& send_queue,
                                 const ReadQueue& read_queue)
    : context_(context),
      send_queue_(send_queue),
      read_queue_(read_queue),
      places_(context.scratch.places) {
  const auto& first = context.config.first_expected;
  const std::array numbers{first.send, first.read_request, first.terminate, first.atomic_response};
  for (std::size_t i = 0; i < queues_.size(); ++i) queues_[i].expected = numbers[i];
}

UntaggedReceive::QueueState& UntaggedReceive::state_of(const Incoming& incoming) {
  const std::uint32_t number = incoming.segment.untagged_header.queue_number.value();
  return queues_[number < queues_.size() ? number : 0];
}

std::expected<UntaggedReceive::Places, Fault> UntaggedReceive::begin(Incoming& incoming) {
  const wire::UntaggedHeader& header = incoming.segment.untagged_header;
  QueueState& state = state_of(incoming);
  // RFC 5041 section 7.1: on an ordered LLP only the message in progress or the next one can
  // arrive.
  if (auto fault =
          incoming.check("ddp.untagged.check-msn-in-range",
                         header.message_sequence_number.value() == state.expected,
                         wire::cause::ddp_untagged_msn_out_of_range, "MSN is not the next one"))
    return std::unexpected(std::move(*fault));
  if (!state.open) {
    if (auto fault = open(state, incoming)) return std::unexpected(std::move(*fault));
  } else if (auto fault = incoming.check("rdmap.error.ddp-fields-validated",
                                         same_taker(state.opcode, header.rdmap.opcode()),
                                         wire::cause::rdmap_unexpected_opcode,
                                         "opcode changes within a message")) {
    return std::unexpected(std::move(*fault));
  }
  incoming.capacity = state.capacity;
  if (auto fault = check_offset(incoming)) return std::unexpected(std::move(*fault));
  return rest(incoming, incoming.payload_length);
}

void UntaggedReceive::close(QueueState& state) {
  state.open = false;
  if (has_buffer(state)) buffer_.reset();
  ++state.expected;  // modulo 2^32 (ddp.untagged.msn-wraps-to-zero)
}

UntaggedReceive::Places UntaggedReceive::rest(const Incoming& incoming, std::size_t left) {
  places_.clear();
  // ddp.untagged.placed-at-mo (RFC 5041 section 5.1)
  std::uint64_t offset = incoming.segment.untagged_header.message_offset.value();
  context_.decisions.ask(&Decisions::place, incoming, offset);
  slice(state_of(incoming), offset + incoming.payload_length - left, left);
  return Places(places_);
}

/// Finds the buffer of the message that begins (RFC 5041 section 7.1).
std::optional<Fault> UntaggedReceive::open(QueueState& state, const Incoming& incoming) {
  const Opcode opcode = incoming.segment.rdmap().opcode();
  std::optional<Fault> fault;
  state.opcode = opcode;
  switch (static_cast<Queue>(&state - queues_.data())) {
    case Queue::send:
      fault = open_send(state, incoming);
      break;
    case Queue::read_request:
      // RFC 5040 section 6.1: above the IRD there is no untagged buffer.
      fault = incoming.check("rdmap.resources.inbound-limit-kept", read_queue_.has_room(opcode),
                             wire::cause::ddp_untagged_no_buffer,
                             "more Read Requests than the IRD allows");
      state.capacity = opcode == Opcode::atomic_request ? sizeof(wire::AtomicRequestHeader)
                                                        : sizeof(wire::ReadRequestHeader);
      break;
    case Queue::terminate:
      state.capacity = wire::max_terminate_size;
      break;
    case Queue::atomic_response:
      // RFC 7306 section 5.2.2
      fault = incoming.check("rdmap.atomic.invalid-response-surfaced",
                             send_queue_.outstanding(WorkKind::atomic) != nullptr,
                             wire::cause::ddp_untagged_no_buffer,
                             "Atomic Response without an Atomic Request");
      state.capacity = sizeof(wire::AtomicResponseHeader);
      break;
  }
  if (fault) return fault;
  if (!takes_buffer(state)) state.own.assign(std::min(state.capacity, longest_own), std::byte{0});
  state.open = true;
  return std::nullopt;
}

/// A Send and Immediate Data use one receive buffer each (RFC 5040 section 5.3, RFC 7306 section
/// 6.3); the RTR indication uses none (RFC 6581 section 9.2).
std::optional<Fault> UntaggedReceive::open_send(QueueState& state, const Incoming& incoming) {
  const bool immediate = wire::is_immediate(state.opcode);
  if (immediate) state.capacity = wire::immediate_size;
  bool needed = !incoming.rtr;
  context_.decisions.ask(&Decisions::needs_receive, incoming, needed);
  if (!needed) return std::nullopt;
  buffer_ = reserved_ ? std::exchange(reserved_, std::nullopt) : context_.memory.take_receive();
  if (auto fault =
          incoming.check("ddp.untagged.check-buffer-available", buffer_.has_value(),
                         wire::cause::ddp_untagged_no_buffer, "no receive buffer for the message"))
    return fault;
  if (!immediate) state.capacity = buffer_ ? buffer_->capacity : 0;
  return std::nullopt;
}

bool UntaggedReceive::lacks_buffer(const Incoming& incoming) {
  const wire::UntaggedHeader& header = incoming.segment.untagged_header;
  const QueueState& state = queues_[0];
  if (header.queue_number.value() != 0 || state.open ||
      header.message_sequence_number.value() != state.expected)
    return false;
  if (!reserved_) reserved_ = context_.memory.take_receive();
  return !reserved_;
}

/// RFC 5041 section 7.1: MO, and the end of the payload, lie within the buffer.
std::optional<Fault> UntaggedReceive::check_offset(const Incoming& incoming) {
  const std::size_t offset = incoming.segment.untagged_header.message_offset.value();
  if (auto fault =
          incoming.check("ddp.untagged.check-mo-in-range", offset <= incoming.capacity,
                         wire::cause::ddp_untagged_invalid_offset, "MO is outside the buffer"))
    return fault;
  auto fault = incoming.check(
      "ddp.untagged.check-end-in-range", offset + incoming.payload_length <= incoming.capacity,
      wire::cause::ddp_untagged_message_too_long, "message is longer than its buffer");
  if (fault) too_long_ = true;
  return fault;
}

/// The places of `length` octets at `from`; octets outside the buffer have none.
void UntaggedReceive::slice(QueueState& state, std::size_t from, std::size_t length) {
  const auto add = [&](wire::MutableBytes piece) {
    const std::size_t skipped = std::min(from, piece.size());
    from -= skipped;
    const std::size_t here = std::min(length, piece.size() - skipped);
    if (here != 0) places_.push_back(piece.subspan(skipped, here));
    length -= here;
  };
  if (!takes_buffer(state)) return add(state.own);
  for (const wire::MutableBytes piece : buffer_->pieces) add(piece);
}

std::optional<DeliveredMessage> UntaggedReceive::end(const Incoming& incoming) {
  QueueState& state = state_of(incoming);
  // RFC 5041 section 5.4: the last segment completes the message, and gives its length.
  Completion completion{
      incoming.segment.ddp().last(),
      incoming.segment.untagged_header.message_offset.value() + incoming.payload_length};
  context_.decisions.ask(&Decisions::completes, incoming, completion);
  if (!completion.complete) return std::nullopt;
  std::optional<DeliveredMessage> message(std::in_place);
  message->queue = static_cast<Queue>(&state - queues_.data());
  message->length = completion.length;
  if (!takes_buffer(state))
    message->octets = wire::Bytes(state.own).first(std::min(completion.length, state.own.size()));
  if (has_buffer(state)) message->work_id = buffer_->work_id;
  context_.decisions.ask(&Decisions::delivered, incoming, message);
  close(state);
  return message;
}

std::optional<ReceiveFailed> UntaggedReceive::give_up() {
  if (!buffer_ && reserved_) buffer_ = std::exchange(reserved_, std::nullopt);
  if (!buffer_) return std::nullopt;
  const ReceiveFailed failed{buffer_->work_id, too_long_};
  buffer_.reset();
  return failed;
}

}  // namespace rnic::stream
