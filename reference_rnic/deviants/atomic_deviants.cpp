// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of Atomics: the Requests that are sent, and how those of the peer are checked,
// executed and answered: one deviant for each.
#include <cstring>
#include <deque>

#include "reference_rnic/deviants/stream_tables.hpp"
#include "reference_rnic/stream/context.hpp"
#include "reference_rnic/stream/send_queue.hpp"

namespace rnic::deviants {
namespace {

using rules::RuleId;
using stream::Admission;
using stream::AtomicOperands;
using stream::AtomicOutcome;
using stream::Context;
using stream::Decisions;
using stream::Fault;
using stream::Offender;
using stream::PostedWork;
using wire::AtomicOperation;
using wire::AtomicRequestHeader;
using Found = std::optional<Fault>;

bool is_fetch_add(const AtomicRequestHeader& header) {
  return (header.operation.value() & 0xF) == static_cast<std::uint32_t>(AtomicOperation::fetch_add);
}

constexpr std::uint64_t byte_swapped(std::uint64_t value) { return __builtin_bswap64(value); }

// ---- Requests that are sent ----

struct AtomicReservedBitsSet : Decisions {
  void atomic_request(const PostedWork&, AtomicRequestHeader& header) override {
    header.operation = header.operation.value() | 0xFFFFFFF0U;
  }
};

struct AtomicOffsetRoundedDown : Decisions {
  void atomic_request(const PostedWork&, AtomicRequestHeader& header) override {
    header.remote_offset = header.remote_offset.value() & ~std::uint64_t{7};
  }
};

struct FetchAddDataSentLittleEndian : Decisions {
  void atomic_request(const PostedWork&, AtomicRequestHeader& header) override {
    if (is_fetch_add(header))
      header.add_or_swap_data = byte_swapped(header.add_or_swap_data.value());
  }
};

struct FetchAddCompareDataSet : Decisions {
  void atomic_request(const PostedWork&, AtomicRequestHeader& header) override {
    if (is_fetch_add(header)) header.compare_data = 1U;
  }
};

struct FetchAddCompareMaskClear : Decisions {
  void atomic_request(const PostedWork&, AtomicRequestHeader& header) override {
    if (is_fetch_add(header)) header.compare_mask = 0U;
  }
};

struct MasksOfZeroSentAsNone : Decisions {
  void atomic_request(const PostedWork&, AtomicRequestHeader& header) override {
    constexpr std::uint64_t all = ~std::uint64_t{0};
    if (is_fetch_add(header)) return;
    if (header.add_or_swap_mask.value() == 0) header.add_or_swap_mask = all;
    if (header.compare_mask.value() == 0) header.compare_mask = all;
  }
};

// ---- how Requests of the peer are checked ----

struct RefusesAtomicReservedBits : Decisions {
  void atomic_checked(RuleId rule, const AtomicRequestHeader& header, const Offender& segment,
                      Found& found) override {
    if (rule.id == RuleId("rdmap.atomic.unsupported-aopcode-surfaced").id &&
        (header.operation.value() & ~0xFU) != 0)
      found = Fault{wire::cause::rdmap_operation_unspecified,
                    "reserved bits of an Atomic Request are set", segment, std::nullopt};
  }
};

/// Refuses a FetchAdd for a field that has no meaning in it.
struct RefusesFetchAdd : Decisions {
  void atomic_checked(RuleId rule, const AtomicRequestHeader& header, const Offender& segment,
                      Found& found) override {
    if (rule.id == RuleId("rdmap.atomic.unsupported-aopcode-surfaced").id && is_fetch_add(header) &&
        refused(header))
      found = Fault{wire::cause::rdmap_operation_unspecified, "unused fields of a FetchAdd are set",
                    segment, std::nullopt};
  }
  [[nodiscard]] virtual bool refused(const AtomicRequestHeader& header) const = 0;
};

struct RefusesFetchAddCompareData : RefusesFetchAdd {
  [[nodiscard]] bool refused(const AtomicRequestHeader& header) const override {
    return header.compare_data.value() != 0;
  }
};

struct RefusesFetchAddCompareMask : RefusesFetchAdd {
  [[nodiscard]] bool refused(const AtomicRequestHeader& header) const override {
    return header.compare_mask.value() != ~std::uint64_t{0};
  }
};

/// Refuses unaligned FetchAdds (or CmpSwaps, if not `add`) only after it has changed memory.
template <bool add>
struct UnalignedChangesMemory : Decisions {
  void atomic_admitted(const Context& context, const AtomicRequestHeader& header,
                       Admission& admission) override {
    if (is_fetch_add(header) != add || !admission.fault ||
        admission.fault->cause != wire::cause::rdmap_catastrophic_stream)
      return;
    if (const auto memory =
            context.memory.resolve(header.remote_stag.value(), header.remote_offset.value(), 1,
                                   stream::MemoryAccess::remote_atomic))
      memory->front() ^= std::byte{1};
  }
};

struct UnknownAopcodeAnswered : Decisions {
  void atomic_checked(RuleId rule, const AtomicRequestHeader&, const Offender&,
                      Found& found) override {
    if (rule.id == RuleId("rdmap.atomic.unsupported-aopcode-surfaced").id) found.reset();
  }
};

struct UnalignedAtomicExecuted : Decisions {
  void atomic_checked(RuleId rule, const AtomicRequestHeader&, const Offender&,
                      Found& found) override {
    if (rule.id == RuleId("rdmap.atomic.alignment-validated").id) found.reset();
  }
};

/// Drops unaligned FetchAdds (or CmpSwaps, if not `add`).
template <bool add>
struct UnalignedDropped : Decisions {
  void atomic_admitted(const Context&, const AtomicRequestHeader& header,
                       Admission& admission) override {
    if (is_fetch_add(header) == add && admission.fault &&
        admission.fault->cause == wire::cause::rdmap_catastrophic_stream)
      admission = {.fault = std::nullopt, .responses = 0};
  }
};

// ---- what they compute with ----

struct AtomicOperandReadOnArrival : Decisions {
  void atomic_admitted(const Context& context, const AtomicRequestHeader& header,
                       Admission& admission) override {
    if (admission.fault) return;
    std::uint64_t word = 0;
    if (const auto memory =
            context.memory.resolve(header.remote_stag.value(), header.remote_offset.value(),
                                   sizeof word, stream::MemoryAccess::remote_atomic))
      std::memcpy(&word, memory->data(), sizeof word);
    words_.push_back(word);
  }
  void atomic_operands(const AtomicRequestHeader&, wire::Bytes, AtomicOperands& operands) override {
    if (words_.empty()) return;
    operands.original = words_.front();
    words_.pop_front();
  }
  std::deque<std::uint64_t> words_;
};

/// Works on a copy of the word that the last Atomic changed.
struct WordKept : Decisions {
  void atomic_operands(const AtomicRequestHeader&, wire::Bytes memory,
                       AtomicOperands& operands) override {
    if (place_ == memory.data()) operands.original = value_;
  }
  void atomic_outcome(const AtomicRequestHeader&, wire::Bytes memory,
                      AtomicOutcome& outcome) override {
    place_ = memory.data();
    value_ = outcome.stored;
  }
  const std::byte* place_ = nullptr;
  std::uint64_t value_ = 0;
};

struct FetchAddDataTakenLittleEndian : Decisions {
  void atomic_operands(const AtomicRequestHeader& header, wire::Bytes,
                       AtomicOperands& operands) override {
    if (is_fetch_add(header)) operands.data = byte_swapped(operands.data);
  }
};

struct FetchAddMaskIgnored : Decisions {
  void atomic_operands(const AtomicRequestHeader& header, wire::Bytes,
                       AtomicOperands& operands) override {
    if (is_fetch_add(header)) operands.mask = 0;
  }
};

struct FetchAddCarryStopsAt32Bits : Decisions {
  void atomic_operands(const AtomicRequestHeader& header, wire::Bytes,
                       AtomicOperands& operands) override {
    if (is_fetch_add(header) && operands.mask == 0) operands.mask = std::uint64_t{1} << 31;
  }
};

struct SwapMaskIgnored : Decisions {
  void atomic_operands(const AtomicRequestHeader& header, wire::Bytes,
                       AtomicOperands& operands) override {
    if (!is_fetch_add(header)) operands.mask = ~std::uint64_t{0};
  }
};

struct CompareMaskIgnored : Decisions {
  void atomic_operands(const AtomicRequestHeader&, wire::Bytes, AtomicOperands& operands) override {
    operands.compare_mask = ~std::uint64_t{0};
  }
};

struct SwapsWithoutComparing : Decisions {
  void atomic_operands(const AtomicRequestHeader&, wire::Bytes, AtomicOperands& operands) override {
    operands.compare_mask = 0;
  }
};

// ---- what they store and answer ----

struct CompareSwapNeverSwaps : Decisions {
  void atomic_outcome(const AtomicRequestHeader& header, wire::Bytes,
                      AtomicOutcome& outcome) override {
    if (!is_fetch_add(header)) outcome.stored = outcome.response.original_data.value();
  }
};

struct FetchAddNotStored : Decisions {
  void atomic_outcome(const AtomicRequestHeader& header, wire::Bytes,
                      AtomicOutcome& outcome) override {
    if (is_fetch_add(header)) outcome.stored = outcome.response.original_data.value();
  }
};

/// Loses one of `period` updates by FetchAdds (or by CmpSwaps, if not `add`).
template <bool add, int period>
struct UpdateLostNowAndThen : Decisions {
  void atomic_outcome(const AtomicRequestHeader& header, wire::Bytes,
                      AtomicOutcome& outcome) override {
    const std::uint64_t original = outcome.response.original_data.value();
    if (is_fetch_add(header) != add || outcome.stored == original || ++updates_ % period != 0)
      return;
    outcome.stored = original;
  }
  int updates_ = 0;
};

/// Stores the result of a FetchAdd (or of a CmpSwap, if not `add`) in the wrong byte order.
template <bool add>
struct StoredByteSwapped : Decisions {
  void atomic_outcome(const AtomicRequestHeader& header, wire::Bytes,
                      AtomicOutcome& outcome) override {
    if (is_fetch_add(header) == add) outcome.stored = byte_swapped(outcome.stored);
  }
};

struct AtomicWrongRequestId : Decisions {
  void atomic_outcome(const AtomicRequestHeader& header, wire::Bytes,
                      AtomicOutcome& outcome) override {
    outcome.response.original_request_id = header.request_id.value() + 1;
  }
};

struct AtomicRequestIdCut : Decisions {
  void atomic_outcome(const AtomicRequestHeader& header, wire::Bytes,
                      AtomicOutcome& outcome) override {
    outcome.response.original_request_id = header.request_id.value() & 0xFFFF;
  }
};

struct CompareSwapReturnsCompared : Decisions {
  void atomic_outcome(const AtomicRequestHeader& header, wire::Bytes,
                      AtomicOutcome& outcome) override {
    if (!is_fetch_add(header)) outcome.response.original_data = header.compare_data.value();
  }
};

struct AtomicReturnsNewValue : Decisions {
  void atomic_outcome(const AtomicRequestHeader&, wire::Bytes, AtomicOutcome& outcome) override {
    outcome.response.original_data = outcome.stored;
  }
};

struct AtomicOriginalLittleEndian : Decisions {
  void atomic_outcome(const AtomicRequestHeader&, wire::Bytes, AtomicOutcome& outcome) override {
    outcome.response.original_data = byte_swapped(outcome.response.original_data.value());
  }
};

constexpr StreamRow rows[] = {
    stream_row<AtomicReservedBitsSet>(Deviation::atomic_reserved_bits_set),
    stream_row<AtomicOffsetRoundedDown>(Deviation::atomic_offset_rounded_down),
    stream_row<FetchAddDataSentLittleEndian>(Deviation::fetch_add_data_sent_little_endian),
    stream_row<FetchAddCompareDataSet>(Deviation::fetch_add_compare_data_set),
    stream_row<FetchAddCompareMaskClear>(Deviation::fetch_add_compare_mask_clear),
    stream_row<MasksOfZeroSentAsNone>(Deviation::masks_of_zero_sent_as_none),
    stream_row<RefusesAtomicReservedBits>(Deviation::refuses_atomic_reserved_bits),
    stream_row<RefusesFetchAddCompareData>(Deviation::refuses_fetch_add_compare_data),
    stream_row<RefusesFetchAddCompareMask>(Deviation::refuses_fetch_add_compare_mask),
    stream_row<UnalignedChangesMemory<true>>(Deviation::unaligned_fetch_add_changes_memory),
    stream_row<UnalignedChangesMemory<false>>(Deviation::unaligned_compare_swap_changes_memory),
    stream_row<UnknownAopcodeAnswered>(Deviation::unknown_aopcode_answered),
    stream_row<UnalignedAtomicExecuted>(Deviation::unaligned_atomic_executed),
    stream_row<UnalignedDropped<true>>(Deviation::unaligned_fetch_add_dropped),
    stream_row<UnalignedDropped<false>>(Deviation::unaligned_compare_swap_dropped),
    stream_row<AtomicOperandReadOnArrival>(Deviation::atomic_operand_read_on_arrival),
    stream_row<WordKept>(Deviation::atomic_word_kept_by_stream),
    stream_row<WordKept>(Deviation::atomic_misses_earlier_write),
    stream_row<FetchAddDataTakenLittleEndian>(Deviation::fetch_add_data_taken_little_endian),
    stream_row<FetchAddMaskIgnored>(Deviation::fetch_add_mask_ignored),
    stream_row<FetchAddCarryStopsAt32Bits>(Deviation::fetch_add_carry_stops_at_32_bits),
    stream_row<SwapMaskIgnored>(Deviation::swap_mask_ignored),
    stream_row<CompareMaskIgnored>(Deviation::compare_mask_ignored),
    stream_row<SwapsWithoutComparing>(Deviation::swaps_without_comparing),
    stream_row<CompareSwapNeverSwaps>(Deviation::compare_swap_never_swaps),
    stream_row<FetchAddNotStored>(Deviation::fetch_add_not_stored),
    stream_row<UpdateLostNowAndThen<true, 400>>(Deviation::atomic_update_lost_now_and_then),
    stream_row<UpdateLostNowAndThen<false, 20>>(Deviation::atomic_swap_lost_now_and_then),
    stream_row<StoredByteSwapped<true>>(Deviation::fetch_add_stored_byte_swapped),
    stream_row<StoredByteSwapped<false>>(Deviation::compare_swap_stored_byte_swapped),
    stream_row<AtomicWrongRequestId>(Deviation::atomic_wrong_request_id),
    stream_row<AtomicRequestIdCut>(Deviation::atomic_request_id_cut),
    stream_row<CompareSwapReturnsCompared>(Deviation::compare_swap_returns_compared),
    stream_row<AtomicReturnsNewValue>(Deviation::atomic_returns_new_value),
    stream_row<AtomicOriginalLittleEndian>(Deviation::atomic_original_little_endian),
};

}  // namespace

std::span<const StreamRow> atomic_deviants() { return rows; }

}  // namespace rnic::deviants
