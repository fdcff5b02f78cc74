// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a stream does with the segments and messages that come in (RFC 5041 section 7, RFC 5040
// sections 5 and 7, RFC 7306).
#include <array>
#include <span>
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

/// The set-up fault that a peer's Terminate stands for.
StartupFault startup_fault(wire::TerminateCause cause) {
  if (cause == wire::cause::mpa_insufficient_ird) return StartupFault::insufficient_ird;
  if (cause == wire::cause::mpa_no_rtr) return StartupFault::no_matching_rtr;
  return StartupFault::lost;
}

}  // namespace

std::span<const wire::MutableBytes> Machine::begin_segment(const IncomingSegment& segment) {
  segment_.emplace(segment, context_, send_queue_, state_);
  segment_fault_.reset();
  auto places = check_segment(*segment_);
  if (places) return *places;
  // mpa.receive.entire-fpdu-before-ddp: a fault counts only when the FPDU has arrived.
  segment_fault_ = std::move(places.error());
  // RFC 5041 section 7.1: a segment is validated before its payload is placed.
  bool placed = false;
  context_.decisions.ask(&Decisions::place_refused, *segment_, placed);
  if (placed && !segment.segment.tagged) return untagged_.rest(*segment_, segment.payload_length);
  return {};
}

std::expected<std::span<const wire::MutableBytes>, Fault> Machine::check_segment(
    Incoming& incoming) {
  if (auto fault = check_header(incoming)) return std::unexpected(std::move(*fault));
  if (awaits_rtr() && incoming.segment.rdmap().opcode() != Opcode::terminate) {
    incoming.rtr = is_rtr(incoming);
    // RFC 6581 section 9.2
    if (auto fault = incoming.check("mpa.enhanced.rtr-of-negotiated-kind", incoming.rtr,
                                    wire::cause::mpa_no_rtr,
                                    "the first FPDU is not an RTR indication of an agreed kind"))
      return std::unexpected(std::move(*fault));
  }
  return incoming.segment.tagged ? tagged_.begin(incoming) : untagged_.begin(incoming);
}

/// A Send or Immediate Data without a receive buffer may be left to the LLP, which repeats it (RFC
/// 5041 section 7.1).
bool Machine::holds_back(const IncomingSegment& segment) {
  const bool wanted =
      context_.decisions.decide(Choice<bool>{"ddp.untagged.no-buffer-llp-recovery", false, either},
                                &Decisions::held_without_buffer);
  if (!wanted || segment.segment.tagged || awaits_rtr()) return false;
  const Incoming incoming(segment, context_, send_queue_, state_);
  return !check_header(incoming) && untagged_.lacks_buffer(incoming);
}

void Machine::buffers_posted(TimePoint now) {
  now_ = now;
  deframer_.try_held_segment();
}

std::span<const wire::MutableBytes> Machine::rest_of_segment(std::size_t left) {
  if (!segment_->segment.tagged) return untagged_.rest(*segment_, left);
  auto places = tagged_.rest(*segment_, left);
  if (places) return *places;
  segment_fault_ = std::move(places.error());
  return {};
}

void Machine::end_segment() {
  const Incoming& incoming = *segment_;
  fpdus_are_exchanged();
  if (segment_fault_ && !passes_over(*segment_fault_)) {
    fail(*segment_fault_);  // rdmap.error.streams-terminated
    return segment_.reset();
  }
  if (!segment_fault_) first_fpdu_validated();
  if (!incoming.segment.tagged) {
    const auto message = untagged_.end(incoming);
    if (message && !segment_fault_) deliver(*message);
  } else if (!segment_fault_) {
    if (auto fault = tagged_.end(incoming)) fail(*fault);
  }
  segment_.reset();
}

/// RFC 5040 section 7.1: a fault in what the peer sends ends the stream.
bool Machine::passes_over(const Fault& fault) const {
  bool passed_over = false;
  context_.decisions.ask(&Decisions::passed_over, *segment_, fault, passed_over);
  return passed_over;
}

void Machine::framing_fault(Fault fault) {
  // A ULPDU without a DDP header arrived in an FPDU that MPA found valid; a bad CRC or Marker means
  // that no FPDU arrived.
  if (fault.cause.layer != wire::layer::mpa) fpdus_are_exchanged();
  fail(fault);
}

/// The Initiator's first FPDU lets the Responder send (RFC 5044 section 7.1.2, rule 4).
void Machine::first_fpdu_validated() {
  if (state_ != State::awaiting_first_fpdu) return;
  transition(state_, State::operational);
  if (!is_reported(set_up_) && segment_ && segment_->segment.rdmap().opcode() != Opcode::terminate)
    establish({});
}

void Machine::deliver(const DeliveredMessage& message) {
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

/// Performs the invalidation that the message in segment_ asks for (RFC 5040 section 5.3).
std::expected<std::optional<std::uint32_t>, Fault> Machine::invalidate_for(Opcode opcode) {
  std::optional<std::uint32_t> stag;
  // RFC 5040 section 4.1: in other messages the Invalidate STag field means nothing.
  if (wire::carries_invalidate(opcode)) stag = segment_->segment.untagged_header.ulp_word.value();
  context_.decisions.ask(&Decisions::invalidates, *segment_, stag);
  if (!stag) return stag;
  const auto done = context_.memory.invalidate_by_peer(*stag);
  const bool unknown = !done && done.error() == MemoryFault::invalid_stag;
  // An STag that does not exist cannot be invalidated either (docs/disputes.md D1).
  static constexpr std::array cannot_be{wire::cause::rdmap_protection_cannot_invalidate,
                                        wire::cause::rdmap_operation_cannot_invalidate};
  if (auto fault = segment_->check("rdmap.invalidate.terminate-if-not-associated", done.has_value(),
                                   unknown ? wire::cause::rdmap_invalid_stag
                                           : wire::cause::rdmap_protection_cannot_invalidate,
                                   "the STag of a Send with Invalidate cannot be invalidated",
                                   unknown ? std::span<const wire::TerminateCause>(cannot_be)
                                           : std::span<const wire::TerminateCause>()))
    return std::unexpected(std::move(*fault));
  return stag;
}

void Machine::deliver_send(const DeliveredMessage& message) {
  MessageReceived event;
  event.opcode = segment_->segment.rdmap().opcode();
  event.length = message.length;
  std::optional<Fault> fault;
  if (wire::is_immediate(event.opcode)) {
    // RFC 7306 section 6.3
    fault = segment_->check(
        "rdmap.immediate.length-checked", message.length == wire::immediate_size,
        wire::cause::rdmap_operation_unspecified, "Immediate Data is not 8 octets long");
    event.immediate.emplace();
    std::ranges::copy(message.octets.first(std::min(message.octets.size(), wire::immediate_size)),
                      event.immediate->begin());
    event.length = 0;
  }
  auto invalidated = invalidate_for(event.opcode);
  if (!invalidated) fault = std::move(invalidated.error());
  if (fault) {
    if (passes_over(*fault)) return;
    if (message.work_id) context_.events.push_back(ReceiveFailed{*message.work_id, false});
    return fail(*fault);
  }
  event.invalidated = *invalidated;
  if (!message.work_id) return;  // the RTR uses no buffer and is not for the consumer
  event.work_id = *message.work_id;
  std::optional<MessageReceived> report = event;
  context_.decisions.ask(&Decisions::reports, *segment_, report);
  if (report) context_.events.push_back(*report);
}

void Machine::deliver_request(const DeliveredMessage& message) {
  const bool atomic = segment_->segment.rdmap().opcode() == Opcode::atomic_request;
  const std::size_t expected =
      atomic ? sizeof(wire::AtomicRequestHeader) : sizeof(wire::ReadRequestHeader);
  if (message.length != expected)
    return fail(segment_->fault(wire::cause::rdmap_operation_unspecified,
                                "Request is shorter than its header"));
  // A half that has been closed cannot carry a Response; the peer may not send a Request any more.
  if (our_half_closed(llp_))
    return fail(segment_->fault(wire::cause::rdmap_operation_unspecified,
                                "Request after the close of this half"));
  std::optional<Fault> fault;
  if (atomic) {
    fault = read_queue_.add(read_header<wire::AtomicRequestHeader>(message.octets),
                            segment_->offender());
  } else {
    const auto header = read_header<wire::ReadRequestHeader>(message.octets);
    if (segment_->rtr && header.length.value() != 0)
      return fail({wire::cause::mpa_no_rtr, "the RTR indication asks for data", std::nullopt,
                   std::nullopt});
    fault = read_queue_.add(header, segment_->offender());
  }
  if (fault) fail(*fault);
}

void Machine::deliver_atomic_response(const DeliveredMessage& message) {
  const auto header = read_header<wire::AtomicResponseHeader>(message.octets);
  auto* entry = send_queue_.outstanding(WorkKind::atomic);
  if (entry == nullptr) return;  // untagged_ accepts none without a Request
  // RFC 7306 section 5.2.2
  const char* detail = "Atomic Response does not answer the oldest Atomic Request";
  auto fault =
      segment_->check("rdmap.atomic.response-header-12-octets", message.length == sizeof header,
                      wire::cause::rdmap_operation_unspecified, detail);
  if (!fault)
    fault = segment_->check("rdmap.atomic.request-identifier-reflected",
                            header.original_request_id.value() == entry->request_id,
                            wire::cause::rdmap_operation_unspecified, detail);
  if (fault) {
    entry->status = WorkStatus::bad_response;
    return fail(*fault);
  }
  entry->original_value = header.original_data.value();
  send_queue_.respond(*entry, WorkStatus::success);
}

/// The Read or Atomic that the peer's Terminate is about ends with the reason, not only as flushed.
void Machine::blame_terminated_read(const wire::Terminate& terminate) {
  if (terminate.cause.layer != wire::layer::rdmap ||
      terminate.ddp_header.size() != wire::untagged_header_size)
    return;
  const auto header = read_header<wire::UntaggedHeader>(terminate.ddp_header);
  if (header.queue_number.value() != static_cast<std::uint32_t>(wire::Queue::read_request)) return;
  send_queue_.blame(terminate.cause.type == wire::error_type::rdmap_protection
                        ? WorkStatus::remote_access
                        : WorkStatus::remote_operation);
}

void Machine::deliver_terminate(const DeliveredMessage& message) {
  // Whatever else is wrong with a Terminate: one that names its cause is not answered with another.
  const auto cause = wire::parse_terminate_cause(message.octets);
  if (!cause) {
    const Fault fault =
        segment_->fault(wire::cause::rdmap_operation_unspecified, "malformed Terminate Message");
    if (!passes_over(fault)) fail(fault);
    return;
  }
  context_.events.push_back(
      TerminateReceived{*cause, {message.octets.begin(), message.octets.end()}});
  report_failed_set_up(startup_fault(*cause));
  deframer_.discard();
  if (const auto terminate = wire::parse_terminate(message.octets))
    blame_terminated_read(*terminate);
  give_up_receive();
  end_transfers(Leaves::begun_fpdu);
  // An end that is under way goes on.
  if (state_ != State::closing && state_ != State::terminating) transition(state_, State::closing);
}

}  // namespace rnic::stream
