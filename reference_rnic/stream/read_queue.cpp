// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/read_queue.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "reference_rnic/stream/atomic_operation.hpp"
#include "reference_rnic/stream/segmenter.hpp"

namespace rnic::stream {
namespace {

constexpr std::size_t atomic_size = 8;

/// AOpCode; the other bits are reserved, and ignored (RFC 7306 section 5.2.1).
wire::AtomicOperation operation_of(const wire::AtomicRequestHeader& header) {
  constexpr std::uint32_t mask = 0xF;
  return static_cast<wire::AtomicOperation>(header.operation.value() & mask);
}

/// RFC 7306 sections 5.1.1 and 5.1.2.
std::uint64_t result_of(wire::AtomicOperation operation, const AtomicOperands& operands) {
  if (operation == wire::AtomicOperation::fetch_add)
    return fetch_add(operands.original, operands.data, operands.mask);
  return compare_swap(operands.original,
                      {operands.data, operands.mask, operands.compare, operands.compare_mask});
}

}  // namespace

/// rdmap.resources.inbound-limit-kept, rdmap.atomic.shares-read-flow-control
bool ReadQueue::has_room(wire::Opcode opcode) const {
  std::size_t places = context_.negotiated.ird;
  context_.decisions.ask(&Decisions::inbound_limit, opcode, places);
  return requests_.size() < places;
}

void ReadQueue::queue(const InboundRequest& request, std::size_t responses) {
  for (std::size_t i = 0; i < responses; ++i) requests_.push_back(request);
}

// ---- RDMA Reads ----

/// RFC 5040 sections 5.2.1 and 7.2.
std::optional<Fault> ReadQueue::check_source(const wire::ReadRequestHeader& header,
                                             const Offender& segment) const {
  const std::size_t length = header.length.value();
  if (length == 0) return std::nullopt;  // rdmap.read.zero-length-not-validated
  const auto memory = context_.memory.resolve(
      header.source_stag.value(), header.source_offset.value(), length, MemoryAccess::remote_read);
  if (memory) return std::nullopt;
  return Fault{rdmap_cause(memory.error()), "Read Request for memory that it may not read", segment,
               header};
}

std::optional<Fault> ReadQueue::add(const wire::ReadRequestHeader& header,
                                    const Offender& segment) {
  wire::ReadRequestHeader request = header;
  Admission admission{check_source(header, segment)};
  context_.decisions.ask(&Decisions::read_admitted, context_, segment, request, admission);
  if (!admission.fault) queue({request, segment}, admission.responses);
  return admission.fault;
}

/// RFC 5040 sections 4.5 and 5.2.
OutgoingMessage ReadQueue::read_response(const wire::ReadRequestHeader& header,
                                         const Offender& segment) {
  OutgoingMessage message;
  message.opcode = wire::Opcode::read_response;
  message.stag = header.sink_stag.value();
  message.offset = header.sink_offset.value();
  message.length = header.length.value();
  message.source = OutgoingMessage::Source{header.source_stag.value(), header.source_offset.value(),
                                           segment, header};
  return message;
}

// ---- Atomics ----

/// rdmap.atomic.unsupported-aopcode-surfaced
std::optional<Fault> ReadQueue::check_operation(const wire::AtomicRequestHeader& header,
                                                const Offender& segment) const {
  const wire::AtomicOperation operation = operation_of(header);
  std::optional<Fault> found;
  if (operation != wire::AtomicOperation::fetch_add &&
      operation != wire::AtomicOperation::compare_swap)
    found = Fault{wire::cause::rdmap_unexpected_opcode, "unknown Atomic operation", segment,
                  std::nullopt};
  context_.decisions.ask(&Decisions::atomic_checked,
                         rules::RuleId("rdmap.atomic.unsupported-aopcode-surfaced"), header,
                         segment, found);
  return found;
}

/// The word that an Atomic works on (RFC 7306 section 8.2).
std::expected<wire::MutableBytes, Fault> ReadQueue::atomic_target(
    const wire::AtomicRequestHeader& header, const Offender& segment) const {
  const auto memory =
      context_.memory.resolve(header.remote_stag.value(), header.remote_offset.value(), atomic_size,
                              MemoryAccess::remote_atomic);
  if (!memory)
    return std::unexpected(Fault{rdmap_cause(memory.error()),
                                 "Atomic Request for memory that it may not use", segment,
                                 std::nullopt});
  // rdmap.atomic.alignment-validated: the address counts, not the offset.
  const auto address = reinterpret_cast<std::uintptr_t>(
      memory->data());  // NOLINT: alignment is a property of the address
  std::optional<Fault> found;
  if (address % atomic_size != 0)
    found = Fault{wire::cause::rdmap_catastrophic_stream,
                  "target of an Atomic is not aligned to 8 octets", segment, std::nullopt};
  context_.decisions.ask(&Decisions::atomic_checked,
                         rules::RuleId("rdmap.atomic.alignment-validated"), header, segment, found);
  if (found) return std::unexpected(*std::move(found));
  return *memory;
}

std::optional<Fault> ReadQueue::add(const wire::AtomicRequestHeader& header,
                                    const Offender& segment) {
  Admission admission{check_operation(header, segment)};
  if (!admission.fault)
    if (auto memory = atomic_target(header, segment); !memory) admission.fault = memory.error();
  context_.decisions.ask(&Decisions::atomic_admitted, context_, header, admission);
  if (!admission.fault) queue({header, segment}, admission.responses);
  return admission.fault;
}

/// Executes an Atomic, checked again (RFC 7306 sections 5.1 and 5.2.2).
std::expected<OutgoingMessage, Fault> ReadQueue::atomic_response(
    const wire::AtomicRequestHeader& header, const Offender& segment) {
  const auto memory = atomic_target(header, segment);
  if (!memory) return std::unexpected(memory.error());
  AtomicOperands operands{.data = header.add_or_swap_data.value(),
                          .mask = header.add_or_swap_mask.value(),
                          .compare = header.compare_data.value(),
                          .compare_mask = header.compare_mask.value()};
  std::memcpy(&operands.original, memory->data(), atomic_size);
  context_.decisions.ask(&Decisions::atomic_operands, header, *memory, operands);
  AtomicOutcome outcome{
      .stored = result_of(operation_of(header), operands),
      .response = {.original_request_id = header.request_id, .original_data = operands.original}};
  context_.decisions.ask(&Decisions::atomic_outcome, header, *memory, outcome);
  std::memcpy(memory->data(), &outcome.stored, atomic_size);

  OutgoingMessage message;
  message.opcode = wire::Opcode::atomic_response;
  const wire::Bytes octets = wire::octets_of(outcome.response);
  message.header.assign(octets.begin(), octets.end());
  message.length = message.header.size();
  return message;
}

// ---- Responses ----

/// Moves the Request that is answered next to the front. False: there is none yet.
bool ReadQueue::choose_next() {
  const std::size_t first = answered_, none = requests_.size();
  const std::array permitted{first, none};
  const Choice<std::size_t> choice{"rdmap.order.read-response-after-later-messages", first,
                                   permitted};
  // rdmap.order.responses-in-delivery-order
  const std::size_t next = context_.decisions.decide(choice, &Decisions::next_response, requests_);
  if (next >= none) return false;
  if (next != first) std::swap(requests_[first], requests_[next]);
  return true;
}

std::expected<std::optional<OutgoingMessage>, Fault> ReadQueue::next() {
  if (!waiting() || !choose_next()) return std::nullopt;
  const InboundRequest& request = requests_[answered_++];
  OutgoingMessage message;
  if (const auto* read = std::get_if<wire::ReadRequestHeader>(&request.header)) {
    message = read_response(*read, request.segment);
  } else {
    auto response =
        atomic_response(std::get<wire::AtomicRequestHeader>(request.header), request.segment);
    if (!response) return std::unexpected(std::move(response.error()));
    message = std::move(*response);
  }
  message.tag = {Purpose::response, next_response_++};
  return message;
}

void ReadQueue::sent() {
  if (requests_.empty()) return;  // cleared in the meantime
  requests_.pop_front();
  --answered_;
}

}  // namespace rnic::stream
