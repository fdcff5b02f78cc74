// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a stream does with the segments and messages that come in (RFC 5041 section 7, RFC 5040
// sections 5 and 7, RFC 7306).
#include <utility>

#include "reference_rnic/stream/header_checks.hpp"
#include "reference_rnic/stream/machine.hpp"
#include "reference_rnic/stream/transitions.hpp"

namespace rnic::stream {
namespace {

using wire::Opcode;

template <wire::WireStruct Header>
Header read_header(wire::Bytes octets) {
  return wire::Reader(octets).read<Header>();
}

bool is_atomic(Opcode opcode) {
  return opcode == Opcode::atomic_request || opcode == Opcode::atomic_response;
}

/// The set-up fault that a peer's Terminate stands for.
StartupFault startup_fault(wire::TerminateCause cause) {
  if (cause == wire::cause::mpa_insufficient_ird) return StartupFault::insufficient_ird;
  if (cause == wire::cause::mpa_no_rtr) return StartupFault::no_matching_rtr;
  return StartupFault::lost;
}

}  // namespace

std::span<const wire::MutableBytes> Stream::Machine::begin_segment(const IncomingSegment& segment) {
  segment_ = segment;
  if (!context_.decisions.conforming()) segment_fault_.reset();
  auto places = check_segment(segment);
  if (places) return *places;
  // mpa.receive.entire-fpdu-before-ddp: a fault counts only when the FPDU is there.
  segment_fault_ = std::move(places.error());
  if (!segment.segment.tagged && context_.deviates(Deviation::untagged_placed_before_validation))
    return untagged_.rest(segment, segment.payload_length);
  return {};
}

std::expected<std::span<const wire::MutableBytes>, Fault> Stream::Machine::check_segment(
    const IncomingSegment& incoming) {
  rtr_segment_ = false;
  if (auto fault = check_header(incoming, context_.decisions))
    return std::unexpected(std::move(*fault));
  if (awaits_rtr() && incoming.segment.rdmap().opcode() != Opcode::terminate) {
    rtr_segment_ = is_rtr(incoming);
    // mpa.enhanced.rtr-of-negotiated-kind
    if (!rtr_segment_ && !context_.deviates(Deviation::takes_any_first_message_for_rtr))
      return std::unexpected(Fault{wire::cause::mpa_no_rtr,
                                   "the first FPDU is no RTR indication of an agreed kind",
                                   {},
                                   {}});
  }
  if (send_queue_.outstanding(WorkKind::read) != nullptr &&
      incoming.segment.rdmap().opcode() != Opcode::read_response &&
      incoming.segment.rdmap().opcode() != Opcode::terminate &&
      context_.deviates(Deviation::only_response_taken_after_request))
    return std::unexpected(
        incoming.fault(wire::cause::rdmap_unexpected_opcode, "not the Read Response"));
  if (incoming.segment.tagged) return tagged_.begin(incoming);
  return untagged_.begin(incoming,
                         rtr_segment_ && !context_.deviates(Deviation::rtr_takes_receive_buffer));
}

std::span<const wire::MutableBytes> Stream::Machine::rest_of_segment(std::size_t left) {
  if (!segment_->segment.tagged) return untagged_.rest(*segment_, left);
  auto places = tagged_.rest(*segment_, left);
  if (places) return *places;
  segment_fault_ = std::move(places.error());
  return {};
}

void Stream::Machine::end_segment() {
  const IncomingSegment incoming = *segment_;
  fpdu_validated_ = true;
  if (!context_.decisions.conforming())
    if (segment_fault_ && passes_over(incoming, *segment_fault_)) {
      if (!incoming.segment.tagged) untagged_.skip(incoming);
      return segment_.reset();
    }
  if (segment_fault_) {
    fail(*segment_fault_);  // rdmap.error.streams-terminated
  } else {
    first_fpdu_validated();
    if (incoming.segment.tagged) {
      if (auto fault = tagged_.end(incoming)) fail(*fault);
    } else if (const auto delivered = untagged_.end(incoming)) {
      deliver(*delivered);
    }
  }
  segment_.reset();
}

/// Ways of dropping what is wrong and going on.
bool Stream::Machine::passes_over(const IncomingSegment& incoming, const Fault& fault) const {
  if (incoming.segment.rdmap().version() == 0 &&
      context_.deviates(Deviation::rdmap_version_zero_dropped))
    return true;
  if (state_ == State::awaiting_first_fpdu &&
      context_.deviates(Deviation::wrong_first_fpdu_dropped))
    return true;
  if (incoming.segment.tagged) return false;
  const bool no_buffer = fault.cause == wire::cause::ddp_untagged_no_buffer;
  switch (incoming.segment.untagged_header.queue_number.value()) {
    case 0:
      if (fault.cause.layer == wire::layer::rdmap)
        return context_.deviates(Deviation::bad_send_dropped);
      return context_.deviates(Deviation::failed_send_skipped) ||
             (fault.cause == wire::cause::ddp_untagged_message_too_long &&
              incoming.segment.rdmap().opcode() == Opcode::send &&
              context_.deviates(Deviation::atomic_answered_behind_lost_send)) ||
             (no_buffer && context_.deviates(Deviation::send_without_buffer_dropped));
    case 1:
      return no_buffer && context_.deviates(Deviation::excess_reads_dropped);
    case 2:
      return context_.deviates(Deviation::bad_terminate_dropped);
    default:
      return false;
  }
}

void Stream::Machine::framing_fault(Fault fault) {
  // A ULPDU without a DDP header came in an FPDU that MPA found good; a bad CRC or Marker means
  // that no FPDU came at all.
  if (fault.cause.layer != wire::layer::mpa ||
      context_.deviates(Deviation::terminate_before_valid_fpdu))
    fpdu_validated_ = true;
  fail(fault);
}

/// The Initiator's first FPDU lets the Responder send (RFC 5044 section 7.1.2, rule 4).
void Stream::Machine::first_fpdu_validated() {
  if (state_ != State::awaiting_first_fpdu) return;
  transition(state_, State::operational);
  if (!established_ && segment_ && segment_->segment.rdmap().opcode() != Opcode::terminate)
    establish({});
}

void Stream::Machine::deliver(const UntaggedReceive::Delivered& message) {
  const wire::UntaggedHeader& header = segment_->segment.untagged_header;
  if (is_atomic(header.rdmap.opcode()) && header.ulp_word.value() != 0 &&
      context_.deviates(Deviation::atomic_invalidates))
    static_cast<void>(context_.memory.invalidate_by_peer(header.ulp_word.value()));
  switch (message.queue) {
    case wire::Queue::send:
      return deliver_send(message);
    case wire::Queue::read_request:
      return deliver_request(message);
    case wire::Queue::terminate:
      return deliver_terminate(message);
    case wire::Queue::atomic_response:
      return deliver_atomic_response(message);
  }
}

/// Carries out the invalidation that the message in segment_ asks for (RFC 5040 section 5.3).
std::expected<std::optional<std::uint32_t>, Fault> Stream::Machine::invalidate_for(Opcode opcode) {
  const std::uint32_t stag = segment_->segment.untagged_header.ulp_word.value();
  const bool asked = wire::carries_invalidate(opcode) ||
                     (stag != 0 && context_.deviates(Deviation::plain_send_invalidates)) ||
                     (stag != 0 && wire::is_immediate(opcode) &&
                      context_.deviates(Deviation::immediate_invalidates));
  if (!asked) return std::optional<std::uint32_t>{};
  const bool left_alone = context_.deviates(Deviation::invalidation_not_done) ||
                          (segment_->payload_length == 0 &&
                           context_.deviates(Deviation::empty_send_invalidates_nothing));
  if (!left_alone) {
    const auto done = context_.memory.invalidate_by_peer(stag);
    if (!done && !context_.deviates(Deviation::failed_invalidation_ignored)) {
      const bool unknown = done.error() == MemoryFault::invalid_stag;
      return std::unexpected(
          segment_->fault(unknown ? wire::cause::rdmap_invalid_stag
                                  : wire::cause::rdmap_protection_cannot_invalidate,
                          "the STag of a Send with Invalidate cannot be invalidated"));
    }
  }
  if (context_.deviates(Deviation::invalidated_stag_not_reported))
    return std::optional<std::uint32_t>{};
  return std::optional(stag);
}

void Stream::Machine::deliver_send(const UntaggedReceive::Delivered& message) {
  MessageReceived event;
  event.opcode = segment_->segment.rdmap().opcode();
  event.length = message.length;
  if (context_.negotiated.crc && context_.deviates(Deviation::receive_length_counts_crc))
    event.length += wire::fpdu_crc_size;
  std::optional<Fault> fault;
  if (wire::is_immediate(event.opcode)) {
    // rdmap.immediate.length-checked
    if (message.length != wire::immediate_size &&
        !context_.deviates(Deviation::immediate_length_unchecked))
      fault = segment_->fault(wire::cause::rdmap_operation_unspecified,
                              "Immediate Data is not 8 octets long");
    event.immediate.emplace();
    std::ranges::copy(message.octets.first(std::min(message.octets.size(), wire::immediate_size)),
                      event.immediate->begin());
    event.length = 0;
  }
  auto invalidated = invalidate_for(event.opcode);
  if (!invalidated) fault = std::move(invalidated.error());
  if (fault && !wire::is_immediate(event.opcode) && context_.deviates(Deviation::bad_send_dropped))
    return;
  if (fault) {
    if (wire::is_immediate(event.opcode) &&
        context_.deviates(Deviation::failed_immediate_forgotten))
      return;
    if (message.work_id) context_.events.push_back(ReceiveFailed{*message.work_id, false});
    return fail(*fault);
  }
  event.invalidated = *invalidated;
  if (event.opcode == Opcode::send_solicited &&
      context_.deviates(Deviation::solicited_not_reported))
    event.opcode = Opcode::send;
  if (!message.work_id) return;  // the RTR takes no buffer, and is not the consumer's
  event.work_id = *message.work_id;
  if (event.immediate && !held_ && context_.deviates(Deviation::immediate_delivered_late)) {
    held_ = event;
    return;
  }
  if (!context_.decisions.conforming())
    if (held_) std::swap(event.work_id, held_->work_id);
  context_.events.push_back(event);
  if (context_.deviates(Deviation::message_delivered_twice)) context_.events.push_back(event);
  if (!context_.decisions.conforming())
    if (held_) context_.events.push_back(*std::exchange(held_, std::nullopt));
}

void Stream::Machine::deliver_request(const UntaggedReceive::Delivered& message) {
  const bool atomic = segment_->segment.rdmap().opcode() == Opcode::atomic_request;
  const std::size_t expected =
      atomic ? sizeof(wire::AtomicRequestHeader) : sizeof(wire::ReadRequestHeader);
  if (message.length != expected)
    return fail(segment_->fault(wire::cause::rdmap_operation_unspecified,
                                "Request is shorter than its header"));
  // What has been closed cannot carry a Response; the peer must not ask any more.
  if (close_done_)
    return fail(segment_->fault(wire::cause::rdmap_operation_unspecified,
                                "Request after the close of this half"));
  std::optional<Fault> fault;
  if (atomic) {
    fault = read_queue_.add(read_header<wire::AtomicRequestHeader>(message.octets),
                            segment_->offender());
  } else {
    const auto header = read_header<wire::ReadRequestHeader>(message.octets);
    if (rtr_segment_ && header.length.value() != 0)
      return fail({wire::cause::mpa_no_rtr, "the RTR indication asks for data", std::nullopt,
                   std::nullopt});
    fault = read_queue_.add(header, segment_->offender());
  }
  if (fault) fail(*fault);
}

void Stream::Machine::deliver_atomic_response(const UntaggedReceive::Delivered& message) {
  const auto header = read_header<wire::AtomicResponseHeader>(message.octets);
  auto* entry = send_queue_.outstanding(WorkKind::atomic);
  if (entry == nullptr) return;  // untagged_ lets none through without a Request
  if (context_.deviates(Deviation::late_atomic_response_refused) && send_queue_.overtaken(*entry))
    return fail(
        segment_->fault(wire::cause::rdmap_operation_unspecified, "Atomic Response comes late"));
  const bool matches = header.original_request_id.value() == entry->request_id ||
                       context_.deviates(Deviation::atomic_response_not_matched);
  if (message.length != sizeof header || !matches) {
    entry->status = WorkStatus::bad_response;
    return fail(segment_->fault(wire::cause::rdmap_operation_unspecified,
                                "Atomic Response does not answer the oldest Atomic Request"));
  }
  entry->original_value = header.original_data.value();
  send_queue_.respond(*entry, WorkStatus::success);
}

/// The Read or Atomic that the peer's Terminate is about ends with the reason, not as merely
/// flushed.
void Stream::Machine::blame_terminated_read(const wire::Terminate& terminate) {
  if (terminate.cause.layer != wire::layer::rdmap ||
      terminate.ddp_header.size() != wire::untagged_header_size)
    return;
  const auto header = read_header<wire::UntaggedHeader>(terminate.ddp_header);
  if (header.queue_number.value() != static_cast<std::uint32_t>(wire::Queue::read_request)) return;
  send_queue_.blame(terminate.cause.type == wire::error_type::rdmap_protection
                        ? WorkStatus::remote_access
                        : WorkStatus::remote_operation);
}

void Stream::Machine::deliver_terminate(const UntaggedReceive::Delivered& message) {
  // Whatever else is wrong with a Terminate, one that names its cause is not to be answered by
  // another.
  const auto cause = wire::parse_terminate_cause(message.octets);
  if (context_.deviates(Deviation::terminate_takes_receive)) {
    if (const auto buffer = context_.memory.take_receive()) {
      MessageReceived event;
      event.work_id = buffer->work_id;
      event.opcode = Opcode::terminate;
      event.length = message.length;
      context_.events.push_back(event);
    }
  }
  if (!cause && context_.deviates(Deviation::bad_terminate_dropped)) return;
  if (!cause)
    return fail(
        segment_->fault(wire::cause::rdmap_operation_unspecified, "malformed Terminate Message"));
  if (context_.deviates(Deviation::received_terminate_ignored)) return;
  if (cause->layer == wire::layer::rdmap && cause->type == wire::error_type::rdmap_local &&
      cause->code != 0 && context_.deviates(Deviation::catastrophic_code_compared))
    return;
  context_.events.push_back(
      TerminateReceived{*cause, {message.octets.begin(), message.octets.end()}});
  report_failed_set_up(startup_fault(*cause));
  deframer_.discard();
  if (const auto terminate = wire::parse_terminate(message.octets))
    blame_terminated_read(*terminate);
  give_up_receive();
  end_transfers(Leaves::begun_fpdu);
  if (state_ != State::closing) transition(state_, State::closing);
}

}  // namespace rnic::stream
