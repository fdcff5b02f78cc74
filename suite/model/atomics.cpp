// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/model/atomics.hpp"

#include <algorithm>

namespace suite::model {

namespace {

constexpr std::size_t word_size = sizeof(std::uint64_t);
constexpr std::uint32_t operation_mask = 0xF;

/// Each byte order that the memory of the IUT may have: no frame states it.
std::vector<State> with_byte_order(const State& state) {
  if (state.memory.byte_order != ByteOrder::unknown) return {state};
  State little = state, big = state;
  little.memory.byte_order = ByteOrder::little;
  big.memory.byte_order = ByteOrder::big;
  return {little, big};
}

std::uint64_t word_of(base::Bytes octets, ByteOrder order) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < word_size; ++i) {
    const std::size_t at = order == ByteOrder::big ? i : word_size - 1 - i;
    word = word << 8 | std::to_integer<std::uint64_t>(octets[at]);
  }
  return word;
}

Octets octets_of(std::uint64_t word, ByteOrder order) {
  Octets octets(word_size);
  for (std::size_t i = 0; i < word_size; ++i) {
    const std::size_t shift = 8 * (order == ByteOrder::big ? word_size - 1 - i : i);
    octets[i] = static_cast<std::byte>(word >> shift);
  }
  return octets;
}

Faults check_memory(State& state, const Taking& taking, const wire::AtomicRequestHeader& request,
                    std::initializer_list<Use> uses) {
  Faults faults;
  for (const Use use : uses)
    state.memory.check(request.remote_stag.value(), request.remote_offset.value(), word_size, use,
                       {taking.stream, state.streams[taking.stream].terms.domain}, faults);
  return faults;
}

/// What is wrong with the request itself (RFC 7306 section 8.2).
void check_request(const wire::AtomicRequestHeader& request, Faults& faults) {
  if (request.remote_offset.value() % word_size != 0) faults.add(fault::atomic_unaligned);
  const std::uint32_t operation = request.operation.value() & operation_mask;
  if (operation != static_cast<std::uint32_t>(wire::AtomicOperation::fetch_add) &&
      operation != static_cast<std::uint32_t>(wire::AtomicOperation::compare_swap))
    faults.add(fault::atomic_operation);
}

/// Whether it may be carried out, and whether it may be refused: both, if the memory is open to
/// other reading and writing of the peer but not to Atomics. The right to them is an API's: RFC 7306
/// section 5 has them address memory as Reads and Writes do.
struct Admitted {
  bool carried_out;
  Faults refusal;
};
Admitted check(State& state, const Taking& taking, const wire::AtomicRequestHeader& request) {
  Faults faults;
  check_request(request, faults);
  Admitted admitted{.carried_out = !faults.any(), .refusal = {}};
  const Faults protection = check_memory(state, taking, request, {Use::atomic});
  if (protection.any()) {
    faults.add(fault::atomic_protection);
    for (const RuleId& rule : protection.all().rules) faults.concern({rule});
    if (check_memory(state, taking, request, {Use::read, Use::write}).any())
      admitted.carried_out = false;
  }
  admitted.refusal = faults;
  return admitted;
}

void concern_request(Faults& faults) {
  faults.concern(
      {"rdmap.atomic.incoming-error-terminate", "rdmap.atomic.incoming-messages-validated"});
}

void carry_out(const Taking& taking, State state, const wire::AtomicRequestHeader& request) {
  const Grant grant = *state.memory.of_stag(request.remote_stag.value());
  note_use(taking, state, grant);
  Region& region = *grant.region;
  const std::uint64_t at = request.remote_offset.value() - region.base;
  const ByteOrder order = state.memory.byte_order;
  const std::uint64_t original = word_of(region.contents.part(at, word_size), order);
  const bool adds = (request.operation.value() & operation_mask) ==
                    static_cast<std::uint32_t>(wire::AtomicOperation::fetch_add);
  const std::uint64_t result =
      adds ? fetch_add(original, request.add_or_swap_data.value(), request.add_or_swap_mask.value())
           : compare_swap(original, request);
  Response response;
  response.atomic = AtomicAnswer{region.handle, request.request_id.value(), original};
  response.source =
      Source{request.remote_stag.value(), request.remote_offset.value(), word_size, Use::atomic};
  response.indeterminate = region.indeterminate;
  state.store(region, at, octets_of(result, order));
  taking.coverage.took(Transition::atomic_asked);
  owe(taking, std::move(state), std::move(response));
}

/// A sink that a further Request fills as well: placement has no order (RFC 5040 section 5.5).
void doubt_shared_sink(State& state, const std::vector<iut::Piece>& sink) {
  const auto fills = [&](const Work& work) {
    return work.asks() && !work.done &&
           std::ranges::any_of(work.command.pieces, [&](const auto& each) {
             return each.region == sink.front().region;
           });
  };
  Region* region = state.memory.find(sink.front().region);
  const bool shared = std::ranges::any_of(
      state.streams, [&](const Stream& stream) { return std::ranges::any_of(stream.work, fills); });
  if (region != nullptr && shared) region->indeterminate = true;
}

}  // namespace

std::uint64_t fetch_add(std::uint64_t original, std::uint64_t add, std::uint64_t mask) {
  std::uint64_t sum = 0, carry = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t column = (original >> bit & 1) + (add >> bit & 1) + carry;
    sum |= (column & 1) << bit;
    // A bit of the mask ends a field.
    carry = (mask >> bit & 1) != 0 ? 0 : column >> 1;
  }
  return sum;
}

std::uint64_t compare_swap(std::uint64_t original, const wire::AtomicRequestHeader& request) {
  const std::uint64_t compare_mask = request.compare_mask.value();
  if ((original & compare_mask) != (request.compare_data.value() & compare_mask)) return original;
  const std::uint64_t swap_mask = request.add_or_swap_mask.value();
  return (original & ~swap_mask) | (request.add_or_swap_data.value() & swap_mask);
}

void deliver_atomic_request(const Taking& taking, const State& state, const Octets& octets) {
  if (octets.size() != sizeof(wire::AtomicRequestHeader)) {
    Faults faults;
    faults.add(fault::request_length);
    concern_request(faults);
    return refuse(taking, state, faults.all(), SentSegment{});
  }
  const auto request = wire::Reader(octets).read<wire::AtomicRequestHeader>();
  State checked = state;
  Admitted admitted = check(checked, taking, request);
  if (admitted.refusal.any()) {
    concern_request(admitted.refusal);
    refuse(taking, state, admitted.refusal.all(), SentSegment{});
  }
  if (!admitted.carried_out) return;
  Stream& stream = checked.streams[taking.stream];
  if ((request.operation.value() & ~operation_mask) != 0)
    stream.taken_by.push_back("rdmap.atomic.request-reserved-ignored");
  stream.taken_by.insert(stream.taken_by.end(), {"rdmap.atomic.fetchadd-compare-data-ignored",
                                                 "rdmap.atomic.fetchadd-compare-mask-ignored"});
  // An IUT that can no longer answer need not carry it out.
  if (stream.closing || stream.iut_closed) {
    State left_out = checked;
    left_out.streams[taking.stream].phase = Phase::broken;
    taking.after.push_back(std::move(left_out));
  }
  for (State& each : with_byte_order(checked)) carry_out(taking, std::move(each), request);
}

void deliver_atomic_response(const Taking& taking, const State& state, const Octets& octets) {
  Faults faults;
  State taken = state;
  Stream& stream = taken.streams[taking.stream];
  Work* open = stream.open_read();
  const bool whole = octets.size() == sizeof(wire::AtomicResponseHeader);
  const auto header = whole ? wire::Reader(octets).read<wire::AtomicResponseHeader>()
                            : wire::AtomicResponseHeader{};
  const auto answers = [&](const Work& work) {
    return whole && work.is_atomic() && work.sent && !work.done &&
           header.original_request_id.value() == work.request_id;
  };
  if (open == nullptr || !answers(*open)) {
    // No text says what a Requester does with a Response that overtakes another one.
    if (const auto early = std::ranges::find_if(stream.work, answers); early != stream.work.end()) {
      taken.end_openly(taking.stream);
      taken.doubt(early->command.pieces);
      taking.after.push_back(taken);
    }
    faults.add(fault::unasked_atomic_response);
    return refuse(taking, state, faults.all(), SentSegment{});
  }
  open->done = true;
  taking.coverage.took(Transition::atomic_answered);
  const std::vector<iut::Piece> sink = open->command.pieces;
  doubt_shared_sink(taken, sink);
  for (State& each : with_byte_order(taken)) {
    each.place(sink, 0, octets_of(header.original_data.value(), each.memory.byte_order));
    taking.after.push_back(std::move(each));
  }
}

void owe(const Taking& taking, State state, Response response) {
  Stream& stream = state.streams[taking.stream];
  const std::size_t before = stream.responses.size();
  State taken = state;
  taken.streams[taking.stream].responses.push_back(std::move(response));
  taking.after.push_back(std::move(taken));
  // It is not known whether an earlier one has been completed: at the limit this may be one too many.
  if (before >= stream.terms.depths.ird) {
    Faults faults;
    faults.add(fault::too_many_reads);
    refuse(taking, state, faults.all(), SentSegment{});
  }
  // An IUT that has closed its half, or is about to, cannot answer.
  if (stream.closing || stream.iut_closed) {
    stream.phase = Phase::broken;
    taking.after.push_back(std::move(state));
  }
}

}  // namespace suite::model
