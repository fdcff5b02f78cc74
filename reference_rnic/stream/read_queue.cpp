// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/read_queue.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "reference_rnic/stream/atomic_operation.hpp"
#include "reference_rnic/stream/segmenter.hpp"

namespace rnic::stream {
namespace {

constexpr std::uint32_t operation_mask = 0xF;
constexpr std::size_t atomic_size = 8;

}  // namespace

std::size_t ReadQueue::limit() const {
  std::size_t depth = context_.negotiated.ird;
  if (context_.deviates(Deviation::ird_one_too_few) && depth != 0) --depth;
  return depth;
}

bool ReadQueue::has_room(wire::Opcode opcode) const {
  std::size_t places = limit();
  if (opcode == wire::Opcode::atomic_request && places > 1 &&
      context_.deviates(Deviation::atomics_have_one_place_less))
    --places;
  return requests_.size() < places || context_.deviates(Deviation::ird_not_enforced);
}

/// How much of the source is looked at before the Request is served.
std::size_t ReadQueue::checked_length(const wire::ReadRequestHeader& header) const {
  const std::size_t length = std::max<std::size_t>(header.length.value(), 1);
  if (context_.deviates(Deviation::read_source_end_unvalidated)) return 1;
  if (context_.deviates(Deviation::read_length_checked_in_16_bits))
    return std::max<std::size_t>(length & 0xFFFF, 1);
  return length;
}

std::optional<Fault> ReadQueue::add(const wire::ReadRequestHeader& header,
                                    const Offender& segment) {
  // rdmap.read.zero-length-not-validated
  const bool check =
      header.length.value() != 0 || context_.deviates(Deviation::zero_length_read_validated);
  if (header.length.value() == 0 &&
      context_.deviates(Deviation::zero_length_read_needs_the_right)) {
    const auto memory = context_.memory.resolve(
        header.source_stag.value(), header.source_offset.value(), 1, MemoryAccess::remote_read);
    if (!memory && memory.error() == MemoryFault::access_rights)
      return Fault{rdmap_cause(memory.error()), "no right to read nothing", segment, header};
  }
  if (check) {
    const auto memory =
        context_.memory.resolve(header.source_stag.value(), header.source_offset.value(),
                                checked_length(header), MemoryAccess::remote_read);
    if (!memory) {
      if (context_.deviates(Deviation::bad_read_request_ignored)) return std::nullopt;
      if (memory.error() == MemoryFault::invalid_stag &&
          context_.deviates(Deviation::unknown_source_answered_empty)) {
        wire::ReadRequestHeader nothing = header;
        nothing.length = 0;
        requests_.push_back({nothing, segment});
        return std::nullopt;
      }
      return Fault{rdmap_cause(memory.error()), "Read Request for memory that it may not read",
                   segment, header};
    }
  }
  if (header.length.value() == 0 && context_.deviates(Deviation::zero_length_read_unanswered))
    return std::nullopt;
  if (context_.deviates(Deviation::read_request_unanswered)) return std::nullopt;
  requests_.push_back({header, segment});
  if (context_.deviates(Deviation::read_response_twice)) requests_.push_back({header, segment});
  return std::nullopt;
}

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
  if (address % atomic_size != 0 && !context_.deviates(Deviation::unaligned_atomic_executed))
    return std::unexpected(Fault{wire::cause::rdmap_catastrophic_stream,
                                 "target of an Atomic is not aligned to 8 octets", segment,
                                 std::nullopt});
  return *memory;
}

std::optional<Fault> ReadQueue::add(const wire::AtomicRequestHeader& header,
                                    const Offender& segment) {
  const std::uint32_t operation = header.operation.value();
  if ((operation & ~operation_mask) != 0 &&
      context_.deviates(Deviation::refuses_atomic_reserved_bits))
    return Fault{wire::cause::rdmap_operation_unspecified,
                 "reserved bits of an Atomic Request are set", segment, std::nullopt};
  const std::uint32_t code = operation & operation_mask;
  const bool known = code == static_cast<std::uint32_t>(wire::AtomicOperation::fetch_add) ||
                     code == static_cast<std::uint32_t>(wire::AtomicOperation::compare_swap);
  // rdmap.atomic.unsupported-aopcode-surfaced
  if (!known && !context_.deviates(Deviation::unknown_aopcode_answered))
    return Fault{wire::cause::rdmap_unexpected_opcode, "unknown Atomic operation", segment,
                 std::nullopt};
  const auto memory = atomic_target(header, segment);
  if (!context_.decisions.conforming()) {
    const bool add = code == static_cast<std::uint32_t>(wire::AtomicOperation::fetch_add);
    const bool dropped = context_.deviates(add ? Deviation::unaligned_fetch_add_dropped
                                               : Deviation::unaligned_compare_swap_dropped) &&
                         !memory && memory.error().cause == wire::cause::rdmap_catastrophic_stream;
    if (dropped) return std::nullopt;
  }
  if (!memory) return memory.error();
  Request request{header, segment};
  if (context_.deviates(Deviation::atomic_operand_read_on_arrival)) {
    request.operand.emplace();
    std::memcpy(&*request.operand, memory->data(), atomic_size);
  }
  requests_.push_back(std::move(request));
  return std::nullopt;
}

/// The word that an Atomic works on, as its memory holds it now.
std::uint64_t ReadQueue::original_for([[maybe_unused]] const Request& request,
                                      wire::Bytes memory) const {
  std::array<std::byte, atomic_size> word;
  std::ranges::copy(memory.first(atomic_size), word.begin());
  if (!context_.decisions.conforming()) {
    if (request.operand) return *request.operand;
    const bool kept = context_.deviates(Deviation::atomic_word_kept_by_stream) ||
                      context_.deviates(Deviation::atomic_misses_earlier_write);
    if (kept && kept_.place == memory.data()) return kept_.value;
  }
  return std::bit_cast<std::uint64_t>(word);
}

void ReadQueue::store([[maybe_unused]] const Request& request, wire::MutableBytes memory,
                      std::uint64_t result) {
  if (!context_.decisions.conforming()) {
    const auto& header = std::get<wire::AtomicRequestHeader>(request.header);
    const bool add = (header.operation.value() & operation_mask) ==
                     static_cast<std::uint32_t>(wire::AtomicOperation::fetch_add);
    kept_ = {memory.data(), result};
    if (context_.deviates(add ? Deviation::fetch_add_stored_byte_swapped
                              : Deviation::compare_swap_stored_byte_swapped))
      result = __builtin_bswap64(result);
  }
  std::memcpy(memory.data(), &result, atomic_size);
}

OutgoingMessage ReadQueue::read_response(const Request& request) const {
  const auto& header = std::get<wire::ReadRequestHeader>(request.header);
  OutgoingMessage message;
  message.opcode = wire::Opcode::read_response;
  message.stag = header.sink_stag.value();
  message.offset = header.sink_offset.value();
  message.length = header.length.value();
  message.source = OutgoingMessage::Source{header.source_stag.value(), header.source_offset.value(),
                                           request.segment, header};
  if (context_.deviates(Deviation::read_source_aligned_down))
    message.source->offset &= ~std::uint64_t{7};
  if (context_.deviates(Deviation::odd_read_rounded_down) && message.length > 8)
    message.length &= ~std::uint64_t{7};
  if (context_.deviates(Deviation::read_length_in_16_bits)) message.length &= 0xFFFF;
  if (context_.deviates(Deviation::read_sink_offset_in_32_bits)) message.offset &= 0xFFFFFFFF;
  if (context_.deviates(Deviation::read_sink_offset_aligned)) message.offset &= ~std::uint64_t{3};
  return message;
}

std::expected<OutgoingMessage, Fault> ReadQueue::atomic_response(const Request& request) {
  const auto& header = std::get<wire::AtomicRequestHeader>(request.header);
  auto memory = atomic_target(header, request.segment);
  if (!memory) return std::unexpected(std::move(memory.error()));
  const std::uint64_t original = original_for(request, *memory);
  const bool add = (header.operation.value() & operation_mask) ==
                   static_cast<std::uint32_t>(wire::AtomicOperation::fetch_add);
  std::uint64_t data = header.add_or_swap_data.value(), mask = header.add_or_swap_mask.value();
  if (context_.deviates(Deviation::fetch_add_data_taken_little_endian) && add)
    data = __builtin_bswap64(data);
  if (context_.deviates(Deviation::fetch_add_mask_ignored) && add) mask = 0;
  SwapOperands operands{data, mask, header.compare_data.value(), header.compare_mask.value()};
  if (context_.deviates(Deviation::swap_mask_ignored)) operands.swap_mask = ~std::uint64_t{0};
  if (context_.deviates(Deviation::compare_mask_ignored)) operands.compare_mask = ~std::uint64_t{0};
  if (context_.deviates(Deviation::swaps_without_comparing)) operands.compare_mask = 0;
  std::uint64_t result = add ? fetch_add(original, data, mask) : compare_swap(original, operands);
  if (context_.deviates(Deviation::compare_swap_never_swaps) && !add) result = original;
  if (context_.deviates(Deviation::fetch_add_not_stored) && add) result = original;
  store(request, *memory, result);

  wire::AtomicResponseHeader response;
  response.original_request_id =
      header.request_id.value() + (context_.deviates(Deviation::atomic_wrong_request_id) ? 1 : 0);
  response.original_data =
      context_.deviates(Deviation::atomic_returns_new_value) ? result : original;
  if (context_.deviates(Deviation::atomic_original_little_endian))
    response.original_data = __builtin_bswap64(response.original_data.value());
  OutgoingMessage message;
  message.opcode = wire::Opcode::atomic_response;
  const wire::Bytes octets = wire::octets_of(response);
  message.header.assign(octets.begin(), octets.end());
  message.length = message.header.size();
  return message;
}

void ReadQueue::serve_shortest_first() {
  const auto length = [](const Request& request) {
    const auto* read = std::get_if<wire::ReadRequestHeader>(&request.header);
    return read == nullptr ? 0U : read->length.value();
  };
  const auto waiting = requests_.begin() + static_cast<std::ptrdiff_t>(answered_);
  std::iter_swap(waiting, std::ranges::min_element(waiting, requests_.end(), {}, length));
}

std::expected<std::optional<OutgoingMessage>, Fault> ReadQueue::next() {
  if (answered_ >= requests_.size()) return std::nullopt;
  if (context_.deviates(Deviation::read_responses_out_of_order))
    std::swap(requests_[answered_], requests_.back());
  if (context_.deviates(Deviation::shortest_read_served_first)) serve_shortest_first();
  if (context_.deviates(Deviation::read_answered_before_atomic) &&
      std::holds_alternative<wire::ReadRequestHeader>(requests_.back().header))
    std::swap(requests_[answered_], requests_.back());
  const Request& request = requests_[answered_++];
  OutgoingMessage message;
  if (std::holds_alternative<wire::ReadRequestHeader>(request.header)) {
    message = read_response(request);
  } else {
    auto response = atomic_response(request);
    if (!response) return std::unexpected(std::move(response.error()));
    message = std::move(*response);
  }
  message.tag = {Purpose::response, next_response_++};
  return message;
}

void ReadQueue::sent() {
  if (requests_.empty()) return;  // cleared since
  requests_.pop_front();
  --answered_;
}

}  // namespace rnic::stream
