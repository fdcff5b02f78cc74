// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of posted work: the order in which it is sent and completes, what it waits for, and
// its messages: one deviant for each.
#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "reference_rnic/deviants/stream_tables.hpp"
#include "reference_rnic/stream/outgoing_message.hpp"
#include "reference_rnic/stream/send_queue.hpp"

namespace rnic::deviants {
namespace {

using stream::Decisions;
using stream::FenceState;
using stream::OutgoingMessage;
using stream::PostedWork;
using stream::WorkDone;
using stream::WorkKind;
using stream::WorkStatus;
using wire::Opcode;

bool is_read_or_atomic(const PostedWork& work) {
  return work.work.kind == WorkKind::read || work.work.kind == WorkKind::atomic;
}

// ---- the order in which work is sent ----

struct WorkSentOutOfOrder : Decisions {
  void next_work(const base::Fifo<PostedWork>& entries, std::size_t first,
                 std::size_t& next) override {
    if (first + 1 < entries.size()) next = first + 1;
  }
};

/// Sends the later of two messages of one kind first.
template <WorkKind kind>
struct KindSentOutOfOrder : Decisions {
  void next_work(const base::Fifo<PostedWork>& entries, std::size_t first,
                 std::size_t& next) override {
    if (first + 1 < entries.size() && entries[first].work.kind == kind &&
        entries[first + 1].work.kind == kind)
      next = first + 1;
  }
};

struct ImmediateDataSentLate : Decisions {
  void next_work(const base::Fifo<PostedWork>& entries, std::size_t first,
                 std::size_t& next) override {
    if (first + 1 < entries.size() && entries[first].work.kind == WorkKind::immediate)
      next = first + 1;
  }
};

// ---- what work waits for ----

struct OrdExceeded : Decisions {
  void outbound_limit(std::size_t& limit) override {
    limit = std::numeric_limits<std::size_t>::max();
  }
};

struct OrdRoundedUp : Decisions {
  void outbound_limit(std::size_t& limit) override { limit = std::bit_ceil(limit); }
};

struct OrdOneTooFew : Decisions {
  void outbound_limit(std::size_t& limit) override {
    if (limit > 1) --limit;
  }
};

struct TwoReadsPerResponse : Decisions {
  void answered(std::size_t& responses_due) override {
    if (responses_due != 0) --responses_due;
  }
};

struct LocalWorkUnfenced : Decisions {
  void fence(const FenceState& state, const stream::Choice<bool>&, bool& waits) override {
    if (state.work.work.kind == WorkKind::local) waits = false;
  }
};

struct FenceLiftedByAnyResponse : Decisions {
  void work_message(const PostedWork& work, OutgoingMessage&) override {
    if (is_read_or_atomic(work)) answered_since_request_ = false;
  }
  void answered(std::size_t&) override { answered_since_request_ = true; }
  void fence(const FenceState&, const stream::Choice<bool>&, bool& waits) override {
    if (answered_since_request_) waits = false;
  }
  bool answered_since_request_ = false;
};

struct FencedWorkWaitsForAClosedPeer : Decisions {
  void fence(const FenceState& state, const stream::Choice<bool>&, bool& waits) override {
    if (state.work.work.fence && state.responses_ended) waits = true;
  }
};

// ---- how work completes ----

struct UnanswerableReadSucceeds : Decisions {
  void refused(const PostedWork&, std::optional<WorkStatus>& status) override {
    if (status == WorkStatus::flushed) status = WorkStatus::success;
  }
};

struct ReadCompletesWhenSent : Decisions {
  void awaits_response(const PostedWork&, bool& waits) override { waits = false; }
};

struct AtomicCompletesWhenSent : Decisions {
  void awaits_response(const PostedWork& work, bool& waits) override {
    if (work.work.kind == WorkKind::atomic) waits = false;
  }
};

struct WorkCompletesOutOfOrder : Decisions {
  void next_completion(const base::Fifo<PostedWork>& entries, std::size_t& next) override {
    const auto done = std::ranges::find(entries, PostedWork::Progress::done, &PostedWork::progress);
    next = static_cast<std::size_t>(done - entries.begin());
  }
};

struct ReadCompletesWithLaterWork : Decisions {
  void next_completion(const base::Fifo<PostedWork>& entries, std::size_t& next) override {
    if (next + 1 == entries.size() && entries[next].work.kind == WorkKind::read)
      next = entries.size();
  }
};

struct RtrCompletionShown : Decisions {
  void completion(const PostedWork& work, std::optional<WorkDone>& report) override {
    if (work.internal) report = WorkDone{.id = work.work.id, .status = work.status};
  }
};

struct WorkNotFlushed : Decisions {
  void completion(const PostedWork& work, std::optional<WorkDone>& report) override {
    if (work.status == WorkStatus::flushed) report.reset();
  }
};

// ---- the messages that are made of it ----

struct MessageLengthIn32Bits : Decisions {
  void refused(const PostedWork&, std::optional<WorkStatus>& status) override {
    if (status == WorkStatus::local_length) status.reset();
  }
  void work_message(const PostedWork&, OutgoingMessage& message) override {
    message.length &= 0xFFFFFFFF;
  }
};

struct SolicitedLost : Decisions {
  void work_message(const PostedWork&, OutgoingMessage& message) override {
    if (message.opcode == Opcode::send_solicited) message.opcode = Opcode::send;
    if (message.opcode == Opcode::send_solicited_invalidate)
      message.opcode = Opcode::send_invalidate;
    if (message.opcode == Opcode::immediate_solicited) message.opcode = Opcode::immediate;
  }
};

struct SolicitedAdded : Decisions {
  void work_message(const PostedWork&, OutgoingMessage& message) override {
    if (message.opcode == Opcode::send) message.opcode = Opcode::send_solicited;
    if (message.opcode == Opcode::send_invalidate)
      message.opcode = Opcode::send_solicited_invalidate;
  }
};

struct InvalidateLost : Decisions {
  void work_message(const PostedWork&, OutgoingMessage& message) override {
    if (message.opcode == Opcode::send_invalidate) message.opcode = Opcode::send;
    if (message.opcode == Opcode::send_solicited_invalidate)
      message.opcode = Opcode::send_solicited;
    message.invalidate = 0;
  }
};

struct ImmediateOctetsReversed : Decisions {
  void work_message(const PostedWork&, OutgoingMessage& message) override {
    if (wire::is_immediate(message.opcode)) std::ranges::reverse(message.header);
  }
};

struct ReadRequestStagsExchanged : Decisions {
  void read_request(const PostedWork&, wire::ReadRequestHeader& header) override {
    std::swap(header.sink_stag, header.source_stag);
  }
};

struct ReadsAskTheFirstBuffer : Decisions {
  void read_request(const PostedWork&, wire::ReadRequestHeader& header) override {
    if (!first_) first_ = header.source_stag;
    header.source_stag = *first_;
  }
  std::optional<wire::be32> first_;
};

struct ReadRequestsRepeatSinkOffset : Decisions {
  void read_request(const PostedWork&, wire::ReadRequestHeader& header) override {
    if (!first_) first_ = header.sink_offset;
    header.sink_offset = *first_;
  }
  std::optional<wire::be64> first_;
};

struct EmptyReadAsksForAnOctet : Decisions {
  void read_request(const PostedWork&, wire::ReadRequestHeader& header) override {
    if (header.length.value() == 0) header.length = 1U;
  }
};

constexpr StreamRow rows[] = {
    stream_row<WorkSentOutOfOrder>(Deviation::work_sent_out_of_order),
    stream_row<KindSentOutOfOrder<WorkKind::write>>(Deviation::writes_sent_out_of_order),
    stream_row<KindSentOutOfOrder<WorkKind::atomic>>(Deviation::atomics_sent_out_of_order),
    stream_row<KindSentOutOfOrder<WorkKind::read>>(Deviation::read_requests_sent_out_of_order),
    stream_row<KindSentOutOfOrder<WorkKind::send>>(Deviation::sends_sent_out_of_order),
    stream_row<ImmediateDataSentLate>(Deviation::immediate_data_sent_late),
    stream_row<OrdExceeded>(Deviation::ord_exceeded),
    stream_row<OrdRoundedUp>(Deviation::ord_rounded_up),
    stream_row<OrdOneTooFew>(Deviation::ord_one_too_few),
    stream_row<TwoReadsPerResponse>(Deviation::two_reads_per_response),
    stream_row<LocalWorkUnfenced>(Deviation::local_work_unfenced),
    stream_row<FenceLiftedByAnyResponse>(Deviation::fence_lifted_by_any_response),
    stream_row<FencedWorkWaitsForAClosedPeer>(Deviation::fenced_work_waits_for_a_closed_peer),
    stream_row<UnanswerableReadSucceeds>(Deviation::unanswerable_read_succeeds),
    stream_row<ReadCompletesWhenSent>(Deviation::read_completes_when_sent),
    stream_row<AtomicCompletesWhenSent>(Deviation::atomic_completes_when_sent),
    stream_row<WorkCompletesOutOfOrder>(Deviation::work_completes_out_of_order),
    stream_row<ReadCompletesWithLaterWork>(Deviation::read_completes_with_later_work),
    stream_row<RtrCompletionShown>(Deviation::rtr_completion_shown),
    stream_row<WorkNotFlushed>(Deviation::work_not_flushed),
    stream_row<MessageLengthIn32Bits>(Deviation::message_length_in_32_bits),
    stream_row<SolicitedLost>(Deviation::solicited_lost),
    stream_row<SolicitedAdded>(Deviation::solicited_added),
    stream_row<InvalidateLost>(Deviation::invalidate_lost),
    stream_row<ImmediateOctetsReversed>(Deviation::immediate_octets_reversed),
    stream_row<ReadRequestStagsExchanged>(Deviation::read_request_stags_exchanged),
    stream_row<ReadsAskTheFirstBuffer>(Deviation::reads_ask_the_first_buffer),
    stream_row<ReadRequestsRepeatSinkOffset>(Deviation::read_requests_repeat_sink_offset),
    stream_row<EmptyReadAsksForAnOctet>(Deviation::empty_read_asks_for_an_octet),
};

}  // namespace

std::span<const StreamRow> work_deviants() { return rows; }

}  // namespace rnic::deviants
