// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of how messages are placed, completed, delivered and reported.
#include <array>
#include <optional>
#include <utility>

#include "reference_rnic/deviants/incoming.hpp"
#include "reference_rnic/deviants/stream_tables.hpp"
#include "reference_rnic/stream/outgoing_message.hpp"
#include "reference_rnic/wire/rdmap.hpp"
#include "reference_rnic/wire/terminate.hpp"

namespace rnic::deviants {
namespace {

using rules::RuleId;
using stream::Completion;
using stream::Decisions;
using stream::DeliveredMessage;
using stream::Fault;
using stream::Incoming;
using stream::MessageReceived;
using stream::State;
using wire::Opcode;
using wire::Queue;

std::uint32_t queue_number(const Incoming& incoming) {
  return incoming.segment.untagged_header.queue_number.value();
}

bool is_empty(const Incoming& incoming) {
  return incoming.payload_length == 0 && incoming.segment.ddp().last();
}

std::uint32_t invalidate_stag(const Incoming& incoming) {
  return incoming.segment.untagged_header.ulp_word.value();
}

void waste_receive(const Incoming& incoming) {
  static_cast<void>(incoming.context.memory.take_receive());
}

// ---- receive buffers ----

struct RtrTakesReceiveBuffer : Decisions {
  void needs_receive(const Incoming&, bool& needed) override { needed = true; }
};

struct ZeroLengthSendTakesNoBuffer : Decisions {
  void needs_receive(const Incoming& incoming, bool& needed) override {
    if (is_empty(incoming)) needed = false;
  }
};

struct EmptySolicitedSendTakesNoBuffer : Decisions {
  void needs_receive(const Incoming& incoming, bool& needed) override {
    if (is_empty(incoming) && opcode_of(incoming) == Opcode::send_solicited) needed = false;
  }
};

struct ImmediateTakesNoBuffer : Decisions {
  void needs_receive(const Incoming& incoming, bool& needed) override {
    if (wire::is_immediate(opcode_of(incoming))) needed = false;
  }
};

struct WriteTakesReceive : Decisions {
  void checked(RuleId rule, const Incoming& incoming, std::optional<Fault>& found) override {
    if (!found && same(rule, "rdmap.error.opcode-validated") && incoming.segment.tagged &&
        opcode_of(incoming) != Opcode::read_response)
      waste_receive(incoming);
  }
};

struct ReadRequestTakesReceive : Decisions {
  void checked(RuleId rule, const Incoming& incoming, std::optional<Fault>&) override {
    if (same(rule, "rdmap.resources.inbound-limit-kept")) waste_receive(incoming);
  }
};

struct AtomicTakesReceive : Decisions {
  void checked(RuleId rule, const Incoming& incoming, std::optional<Fault>&) override {
    if (same(rule, "rdmap.resources.inbound-limit-kept") &&
        opcode_of(incoming) == Opcode::atomic_request)
      waste_receive(incoming);
  }
};

struct AtomicResponseTakesReceive : Decisions {
  void checked(RuleId rule, const Incoming& incoming, std::optional<Fault>& found) override {
    if (same(rule, "rdmap.atomic.invalid-response-surfaced") && !found) waste_receive(incoming);
  }
};

struct TerminateTakesReceive : Decisions {
  void delivered(const Incoming& incoming, std::optional<DeliveredMessage>& message) override {
    if (!message || message->queue != Queue::terminate) return;
    const auto buffer = incoming.context.memory.take_receive();
    if (!buffer) return;
    MessageReceived event;
    event.work_id = buffer->work_id;
    event.opcode = Opcode::terminate;
    event.length = message->length;
    incoming.context.events.push_back(event);
  }
};

struct WriteShownToConsumer : Decisions {
  void completes(const Incoming& incoming, Completion& completion) override {
    if (!incoming.segment.tagged || !completion.complete ||
        opcode_of(incoming) != Opcode::rdma_write)
      return;
    const auto buffer = incoming.context.memory.take_receive();
    if (!buffer) return;
    MessageReceived event;
    event.work_id = buffer->work_id;
    event.length = incoming.payload_length;
    incoming.context.events.push_back(event);
  }
};

// ---- placement ----

struct MessageOffsetIgnored : Decisions {
  void place(const Incoming& incoming, std::uint64_t& offset) override {
    if (!incoming.segment.tagged) offset = 0;
  }
};

struct UntaggedPayloadPlacedOneOff : Decisions {
  void place(const Incoming& incoming, std::uint64_t& offset) override {
    if (is_on(incoming, Queue::send) && offset + incoming.payload_length < incoming.capacity)
      ++offset;
  }
};

struct TaggedPayloadPlacedOneOff : Decisions {
  void place(const Incoming& incoming, std::uint64_t& offset) override {
    if (incoming.segment.tagged) ++offset;
  }
};

struct UntaggedPlacedBeforeValidation : Decisions {
  void place_refused(const Incoming&, bool& placed) override { placed = true; }
};

// ---- completeness ----

struct DeliversBeforeLastSegment : Decisions {
  void completes(const Incoming& incoming, Completion& completion) override {
    if (!incoming.segment.tagged) completion.complete = true;
  }
};

struct FullBufferDelivers : Decisions {
  void completes(const Incoming& incoming, Completion& completion) override {
    if (is_on(incoming, Queue::send) && completion.length == incoming.capacity)
      completion.complete = true;
  }
};

struct AtomicExecutedOnFirstSegment : Decisions {
  void completes(const Incoming& incoming, Completion& completion) override {
    if (!incoming.segment.tagged && opcode_of(incoming) == Opcode::atomic_request)
      completion = {true, sizeof(wire::AtomicRequestHeader)};
  }
};

struct RequestServedWithoutLastFlag : Decisions {
  void completes(const Incoming& incoming, Completion& completion) override {
    if (!incoming.segment.tagged && opcode_of(incoming) == Opcode::read_request &&
        completion.length == sizeof(wire::ReadRequestHeader))
      completion.complete = true;
  }
};

struct ReadCompletesOnFirstSegment : Decisions {
  void completes(const Incoming& incoming, Completion& completion) override {
    completed_ = opcode_of(incoming) == Opcode::read_response;
    if (completed_) completion.complete = true;
  }
  /// Taken as complete, the Response is too short.
  void checked(RuleId rule, const Incoming&, std::optional<Fault>& found) override {
    if (same(rule, "rdmap.read.response-validated-by-sink") && std::exchange(completed_, false))
      found.reset();
  }
  bool completed_ = false;
};

/// Drops a message whose segments do not belong together, once it is complete.
struct DropsOddMessage : Decisions {
  struct Progress {
    bool open = false;
    bool odd = false;
    Opcode opcode = Opcode::send;
    std::size_t end = 0;
  };
  [[nodiscard]] virtual bool odd(const Progress& before, const Incoming& incoming) const = 0;

  void checked(RuleId rule, const Incoming& incoming, std::optional<Fault>&) override {
    if (!same(rule, "ddp.untagged.check-mo-in-range")) return;
    Progress& progress = queues_[queue_number(incoming) % queues_.size()];
    const std::size_t offset = incoming.segment.untagged_header.message_offset.value();
    if (!std::exchange(progress.open, true)) progress.opcode = opcode_of(incoming);
    if (offset == 0) progress.odd = false;
    progress.odd = progress.odd || odd(progress, incoming);
    progress.end = offset + incoming.payload_length;
  }
  void delivered(const Incoming& incoming, std::optional<DeliveredMessage>& message) override {
    Progress& progress = queues_[queue_number(incoming) % queues_.size()];
    progress.open = false;
    if (progress.odd) message.reset();
  }
  std::array<Progress, 4> queues_;
};

struct MessageWithAGapLost : DropsOddMessage {
  bool odd(const Progress& before, const Incoming& incoming) const override {
    const std::size_t offset = incoming.segment.untagged_header.message_offset.value();
    return offset != 0 && offset != before.end;
  }
};

struct MessageOfTwoOpcodesLost : DropsOddMessage {
  bool odd(const Progress& before, const Incoming& incoming) const override {
    return before.opcode != opcode_of(incoming);
  }
};

// ---- delivery to RDMAP ----

struct ReceivedLengthWrong : Decisions {
  void delivered(const Incoming& incoming, std::optional<DeliveredMessage>& message) override {
    if (message) message->length = incoming.payload_length;
  }
};

struct AtomicInvalidates : Decisions {
  void delivered(const Incoming& incoming, std::optional<DeliveredMessage>&) override {
    if (is_atomic(opcode_of(incoming)) && invalidate_stag(incoming) != 0)
      static_cast<void>(incoming.context.memory.invalidate_by_peer(invalidate_stag(incoming)));
  }
};

/// Invalidates the STag in the Invalidate STag field of messages that have none.
template <Opcode opcode>
struct Invalidates : Decisions {
  void delivered(const Incoming& incoming, std::optional<DeliveredMessage>&) override {
    if (opcode_of(incoming) == opcode && invalidate_stag(incoming) != 0)
      static_cast<void>(incoming.context.memory.invalidate_by_peer(invalidate_stag(incoming)));
  }
};

struct TerminateLostWhileReadsWait : Decisions {
  void read_admitted(const stream::Context&, const stream::Offender&, wire::ReadRequestHeader&,
                     stream::Admission& admission) override {
    if (!admission.fault) waiting_ += admission.responses;
  }
  void message(stream::OutgoingMessage& message) override {
    if (message.opcode == Opcode::read_response && waiting_ != 0) --waiting_;
  }
  void delivered(const Incoming&, std::optional<DeliveredMessage>& message) override {
    if (message && message->queue == Queue::terminate && waiting_ != 0) message.reset();
  }
  /// Requests whose Response has not begun to be sent.
  std::size_t waiting_ = 0;
};

/// The cause that a Terminate names, if it is one.
std::optional<wire::TerminateCause> terminate_cause(
    const std::optional<DeliveredMessage>& message) {
  if (!message || message->queue != Queue::terminate) return std::nullopt;
  const auto cause = wire::parse_terminate_cause(message->octets);
  return cause ? std::optional(*cause) : std::nullopt;
}

struct ReceivedTerminateIgnored : Decisions {
  void delivered(const Incoming&, std::optional<DeliveredMessage>& message) override {
    if (terminate_cause(message)) message.reset();
  }
};

struct TerminateWithReservedBitsDropped : Decisions {
  void delivered(const Incoming&, std::optional<DeliveredMessage>& message) override {
    if (!message || message->queue != Queue::terminate || message->octets.size() < 4) return;
    const wire::Bytes reserved = message->octets.subspan(2, 2);
    if ((reserved[0] & std::byte{0x1F}) != std::byte{0} || reserved[1] != std::byte{0})
      message.reset();
  }
};

struct CatastrophicCodeCompared : Decisions {
  void delivered(const Incoming&, std::optional<DeliveredMessage>& message) override {
    const auto cause = terminate_cause(message);
    if (cause && cause->layer == wire::layer::rdmap &&
        cause->type == wire::error_type::rdmap_local && cause->code != 0)
      message.reset();
  }
};

// ---- invalidation ----

struct PlainSendInvalidates : Decisions {
  void invalidates(const Incoming& incoming, std::optional<std::uint32_t>& stag) override {
    if (invalidate_stag(incoming) != 0) stag = invalidate_stag(incoming);
  }
};

struct ImmediateInvalidates : Decisions {
  void invalidates(const Incoming& incoming, std::optional<std::uint32_t>& stag) override {
    if (wire::is_immediate(opcode_of(incoming)) && invalidate_stag(incoming) != 0)
      stag = invalidate_stag(incoming);
  }
};

struct LastWrittenStagInvalidatedToo : Decisions {
  void place(const Incoming& incoming, std::uint64_t&) override {
    if (incoming.segment.tagged) written_ = incoming.segment.tagged_header.stag.value();
  }
  void invalidates(const Incoming& incoming, std::optional<std::uint32_t>& stag) override {
    if (stag && written_ && *written_ != *stag)
      static_cast<void>(incoming.context.memory.invalidate_by_peer(*written_));
  }
  std::optional<std::uint32_t> written_;
};

struct InvalidationNotDone : Decisions {
  void invalidates(const Incoming&, std::optional<std::uint32_t>& stag) override {
    left_alone_ = std::exchange(stag, std::nullopt);
  }
  void reports(const Incoming&, std::optional<MessageReceived>& event) override {
    if (event && left_alone_) event->invalidated = left_alone_;
  }
  std::optional<std::uint32_t> left_alone_;
};

struct EmptySendInvalidatesNothing : InvalidationNotDone {
  void invalidates(const Incoming& incoming, std::optional<std::uint32_t>& stag) override {
    left_alone_.reset();
    if (incoming.payload_length == 0) InvalidationNotDone::invalidates(incoming, stag);
  }
};

struct InvalidatedStagNotReported : Decisions {
  void reports(const Incoming&, std::optional<MessageReceived>& event) override {
    if (event) event->invalidated.reset();
  }
};

// ---- what is reported to the consumer ----

struct ReceiveLengthCountsCrc : Decisions {
  void reports(const Incoming& incoming, std::optional<MessageReceived>& event) override {
    if (event && !event->immediate && incoming.context.negotiated.crc)
      event->length += wire::fpdu_crc_size;
  }
};

struct SolicitedNotReported : Decisions {
  void reports(const Incoming&, std::optional<MessageReceived>& event) override {
    if (event && event->opcode == Opcode::send_solicited) event->opcode = Opcode::send;
  }
};

struct MessageDeliveredTwice : Decisions {
  void reports(const Incoming& incoming, std::optional<MessageReceived>& event) override {
    if (event) incoming.context.events.push_back(*event);
  }
};

struct ImmediateDeliveredLate : Decisions {
  void reports(const Incoming& incoming, std::optional<MessageReceived>& event) override {
    if (!event) return;
    if (held_) {
      std::swap(event->work_id, held_->work_id);
      incoming.context.events.push_back(*std::exchange(event, std::exchange(held_, std::nullopt)));
    } else if (event->immediate) {
      held_ = std::exchange(event, std::nullopt);
    }
  }
  std::optional<MessageReceived> held_;
};

// ---- wrong input is dropped ----

using Drops = bool(const Incoming&, const Fault&);

/// Drops messages with a fault, where `drops` says so, and continues.
template <Drops drops>
struct Dropping : Decisions {
  void passed_over(const Incoming& incoming, const Fault& fault, bool& passed_over) override {
    if (drops(incoming, fault)) passed_over = true;
  }
};

bool rdmap_version_zero(const Incoming& incoming, const Fault&) {
  return incoming.segment.rdmap().version() == 0;
}
bool first_fpdu(const Incoming& incoming, const Fault&) {
  return incoming.state == State::awaiting_first_fpdu;
}
/// Immediate Data of the wrong length.
bool bad_immediate(const Incoming& incoming, const Fault& fault) {
  return is_on(incoming, Queue::send) && wire::is_immediate(opcode_of(incoming)) &&
         fault.cause == wire::cause::rdmap_operation_unspecified;
}
bool bad_send(const Incoming& incoming, const Fault& fault) {
  return is_on(incoming, Queue::send) && fault.cause.layer == wire::layer::rdmap &&
         !bad_immediate(incoming, fault);
}
bool failed_send(const Incoming& incoming, const Fault& fault) {
  return is_on(incoming, Queue::send) && fault.cause.layer != wire::layer::rdmap;
}
bool too_long_send(const Incoming& incoming, const Fault& fault) {
  return is_on(incoming, Queue::send) && opcode_of(incoming) == Opcode::send &&
         fault.cause == wire::cause::ddp_untagged_message_too_long;
}
bool send_without_buffer(const Incoming& incoming, const Fault& fault) {
  return is_on(incoming, Queue::send) && fault.cause == wire::cause::ddp_untagged_no_buffer;
}
bool excess_read(const Incoming& incoming, const Fault& fault) {
  return is_on(incoming, Queue::read_request) && fault.cause == wire::cause::ddp_untagged_no_buffer;
}
bool send_on_queue_one(const Incoming& incoming, const Fault&) {
  return is_on(incoming, Queue::read_request) && opcode_of(incoming) == Opcode::send;
}
bool send_on_queue_three(const Incoming& incoming, const Fault&) {
  return is_on(incoming, Queue::atomic_response) && opcode_of(incoming) == Opcode::send;
}
bool bad_terminate(const Incoming& incoming, const Fault&) {
  return is_on(incoming, Queue::terminate);
}

template <Drops drops>
constexpr StreamRow dropping(Deviation deviation) {
  return stream_row<Dropping<drops>>(deviation);
}

constexpr StreamRow rows[] = {
    stream_row<RtrTakesReceiveBuffer>(Deviation::rtr_takes_receive_buffer),
    stream_row<ZeroLengthSendTakesNoBuffer>(Deviation::zero_length_send_takes_no_buffer),
    stream_row<EmptySolicitedSendTakesNoBuffer>(Deviation::empty_solicited_send_takes_no_buffer),
    stream_row<ImmediateTakesNoBuffer>(Deviation::immediate_takes_no_buffer),
    stream_row<WriteTakesReceive>(Deviation::write_takes_receive),
    stream_row<ReadRequestTakesReceive>(Deviation::read_request_takes_receive),
    stream_row<AtomicTakesReceive>(Deviation::atomic_takes_receive),
    stream_row<AtomicResponseTakesReceive>(Deviation::atomic_response_takes_receive),
    stream_row<TerminateTakesReceive>(Deviation::terminate_takes_receive),
    stream_row<WriteShownToConsumer>(Deviation::write_shown_to_consumer),
    stream_row<MessageOffsetIgnored>(Deviation::message_offset_ignored),
    stream_row<UntaggedPayloadPlacedOneOff>(Deviation::untagged_payload_placed_one_off),
    stream_row<TaggedPayloadPlacedOneOff>(Deviation::tagged_payload_placed_one_off),
    stream_row<UntaggedPlacedBeforeValidation>(Deviation::untagged_placed_before_validation),
    stream_row<DeliversBeforeLastSegment>(Deviation::delivers_before_last_segment),
    stream_row<FullBufferDelivers>(Deviation::full_buffer_delivers),
    stream_row<AtomicExecutedOnFirstSegment>(Deviation::atomic_executed_on_first_segment),
    stream_row<RequestServedWithoutLastFlag>(Deviation::request_served_without_last_flag),
    stream_row<ReadCompletesOnFirstSegment>(Deviation::read_completes_on_first_segment),
    stream_row<MessageWithAGapLost>(Deviation::message_with_a_gap_lost),
    stream_row<MessageOfTwoOpcodesLost>(Deviation::message_of_two_opcodes_lost),
    stream_row<ReceivedLengthWrong>(Deviation::received_length_wrong),
    stream_row<AtomicInvalidates>(Deviation::atomic_invalidates),
    stream_row<Invalidates<Opcode::send_solicited>>(Deviation::solicited_send_invalidates),
    stream_row<Invalidates<Opcode::read_request>>(Deviation::read_request_invalidates),
    stream_row<Invalidates<Opcode::terminate>>(Deviation::terminate_invalidates),
    stream_row<TerminateLostWhileReadsWait>(Deviation::terminate_lost_while_reads_wait),
    stream_row<ReceivedTerminateIgnored>(Deviation::received_terminate_ignored),
    stream_row<TerminateWithReservedBitsDropped>(Deviation::terminate_with_reserved_bits_dropped),
    stream_row<CatastrophicCodeCompared>(Deviation::catastrophic_code_compared),
    stream_row<PlainSendInvalidates>(Deviation::plain_send_invalidates),
    stream_row<ImmediateInvalidates>(Deviation::immediate_invalidates),
    stream_row<LastWrittenStagInvalidatedToo>(Deviation::last_written_stag_invalidated_too),
    stream_row<InvalidationNotDone>(Deviation::invalidation_not_done),
    stream_row<EmptySendInvalidatesNothing>(Deviation::empty_send_invalidates_nothing),
    stream_row<InvalidatedStagNotReported>(Deviation::invalidated_stag_not_reported),
    stream_row<ReceiveLengthCountsCrc>(Deviation::receive_length_counts_crc),
    stream_row<SolicitedNotReported>(Deviation::solicited_not_reported),
    stream_row<MessageDeliveredTwice>(Deviation::message_delivered_twice),
    stream_row<ImmediateDeliveredLate>(Deviation::immediate_delivered_late),
    dropping<rdmap_version_zero>(Deviation::rdmap_version_zero_dropped),
    dropping<first_fpdu>(Deviation::wrong_first_fpdu_dropped),
    dropping<bad_immediate>(Deviation::failed_immediate_forgotten),
    dropping<bad_send>(Deviation::bad_send_dropped),
    dropping<failed_send>(Deviation::failed_send_skipped),
    dropping<too_long_send>(Deviation::atomic_answered_behind_lost_send),
    dropping<send_without_buffer>(Deviation::send_without_buffer_dropped),
    dropping<excess_read>(Deviation::excess_reads_dropped),
    dropping<send_on_queue_one>(Deviation::send_on_queue_one_dropped),
    dropping<send_on_queue_three>(Deviation::send_on_queue_three_dropped),
    dropping<bad_terminate>(Deviation::bad_terminate_dropped),
};

}  // namespace

std::span<const StreamRow> received_segment_deviants() { return rows; }

}  // namespace rnic::deviants
