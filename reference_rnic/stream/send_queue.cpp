// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/send_queue.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace rnic::stream {
namespace {

constexpr std::uint64_t longest_message = std::numeric_limits<std::uint32_t>::max();

std::uint64_t total(const std::vector<wire::Bytes>& pieces) {
  std::uint64_t length = 0;
  for (const wire::Bytes piece : pieces) length += piece.size();
  return length;
}

template <wire::WireStruct Header>
std::vector<std::byte> octets(const Header& header) {
  const wire::Bytes span = wire::octets_of(header);
  return {span.begin(), span.end()};
}

std::uint64_t length_of(const Work& work) {
  switch (work.kind) {
    case WorkKind::send:
    case WorkKind::write:
    case WorkKind::local:
      return total(work.gather);
    case WorkKind::read:
      return work.length;
    case WorkKind::atomic:
    case WorkKind::immediate:
      return 8;
  }
  std::unreachable();
}

Fault local_fault(const char* detail) {
  // rdmap.error.local-error-terminate: nothing of the peer's is to be copied.
  return {wire::cause::rdmap_local_catastrophic, detail, std::nullopt, std::nullopt};
}

}  // namespace

void SendQueue::post(Work work) {
  Entry entry;
  entry.length = length_of(work);
  entry.work = std::move(work);
  entry.number = next_number_++;
  entries_.push_back(std::move(entry));
  if (refusing_) finish(entries_.back(), WorkStatus::flushed);
}

void SendQueue::post_rtr(OutgoingMessage& message, WorkKind kind) {
  Entry entry;
  entry.work.kind = kind;
  entry.number = next_number_++;
  entry.internal = !context_.deviates(Deviation::rtr_completion_shown);
  entry.progress = Progress::issued;
  message.tag = {Purpose::work, entry.number};
  if (awaits_response(kind)) ++responses_due_;
  entries_.push_front(std::move(entry));
  ++issued_;
}

/// Work that no peer could carry out; checked when its turn comes, so that completions keep their
/// order.
std::optional<WorkStatus> SendQueue::inadmissible(const Entry& entry) const {
  const Work& work = entry.work;
  if (entry.length > longest_message && !context_.deviates(Deviation::message_length_in_32_bits))
    return WorkStatus::local_length;  // ddp.segmentation.message-below-4gib
  if (awaits_response(work.kind) && context_.negotiated.ord == 0 &&
      !context_.deviates(Deviation::ord_exceeded))
    return WorkStatus::local_operation;
  if (work.kind == WorkKind::read && work.length != 0 &&
      !context_.memory.resolve(work.sink_stag, work.sink_offset, work.length,
                               MemoryAccess::read_sink))
    return WorkStatus::local_protection;
  return std::nullopt;
}

bool SendQueue::must_wait(const Entry& entry) const {
  const bool fenced = entry.work.fence && !(entry.work.kind == WorkKind::local &&
                                            context_.deviates(Deviation::local_work_unfenced));
  const bool lifted = answered_since_ && context_.deviates(Deviation::fence_lifted_by_any_response);
  if (fenced && responses_due_ != 0 && !lifted) return true;
  // rdmap.resources.outbound-limit-kept
  std::size_t limit = context_.negotiated.ord;
  if (limit > 1 && context_.deviates(Deviation::ord_one_too_few)) --limit;
  return awaits_response(entry.work.kind) && responses_due_ >= limit &&
         !context_.deviates(Deviation::ord_exceeded);
}

/// Whether a deviation sends the work behind this one first.
bool SendQueue::leaves_too_late(std::size_t index) const {
  if (context_.deviates(Deviation::work_sent_out_of_order)) return true;
  const WorkKind kind = entries_[index].work.kind;
  if (entries_[index + 1].work.kind != kind) return false;
  return (kind == WorkKind::write && context_.deviates(Deviation::writes_sent_out_of_order)) ||
         (kind == WorkKind::atomic && context_.deviates(Deviation::atomics_sent_out_of_order)) ||
         (kind == WorkKind::read && context_.deviates(Deviation::read_requests_sent_out_of_order));
}

std::expected<std::optional<OutgoingMessage>, Fault> SendQueue::next() {
  if (!context_.decisions.conforming())
    if (issued_ + 1 < entries_.size() && leaves_too_late(issued_))
      std::swap(entries_[issued_], entries_[issued_ + 1]);
  while (issued_ < entries_.size()) {
    Entry& entry = entries_[issued_];
    if (entry.progress == Progress::done) {
      ++issued_;
      continue;
    }
    if (responses_ended_ && awaits_response(entry.work.kind)) {
      ++issued_;
      finish(entry, context_.deviates(Deviation::unanswerable_read_succeeds) ? WorkStatus::success
                                                                             : WorkStatus::flushed);
      continue;
    }
    if (const auto status = inadmissible(entry)) {
      finish(entry, *status);
      return std::unexpected(local_fault("posted work cannot be carried out"));
    }
    if (must_wait(entry)) return std::nullopt;
    ++issued_;
    if (entry.work.kind != WorkKind::local) return message_for(entry);
    const bool done = context_.memory.perform_local(entry.work.id);
    finish(entry, done ? WorkStatus::success : WorkStatus::local_operation);
    if (!done) return std::unexpected(local_fault("a local operation failed"));
  }
  return std::nullopt;
}

OutgoingMessage SendQueue::message_for(Entry& entry) {
  entry.progress = Progress::issued;
  if (awaits_response(entry.work.kind)) {
    ++responses_due_;
    if (!context_.decisions.conforming()) answered_since_ = false;
  }
  OutgoingMessage message;
  switch (entry.work.kind) {
    case WorkKind::send:
      message = send_message(entry);
      break;
    case WorkKind::write:
      message.opcode = wire::Opcode::rdma_write;
      message.stag = entry.work.remote_stag;
      message.offset = entry.work.remote_offset;
      message.gather = entry.work.gather;
      break;
    case WorkKind::read:
      message = read_request(entry);
      break;
    case WorkKind::atomic:
      message = atomic_request(entry);
      break;
    case WorkKind::immediate: {
      const bool solicited = entry.work.solicited && !context_.deviates(Deviation::solicited_lost);
      message.opcode = solicited ? wire::Opcode::immediate_solicited : wire::Opcode::immediate;
      message.header.assign(entry.work.immediate.begin(), entry.work.immediate.end());
      if (context_.deviates(Deviation::immediate_octets_reversed))
        std::ranges::reverse(message.header);
      break;
    }
    case WorkKind::local:
      break;
  }
  message.length = message.header.size() + total(message.gather);
  if (context_.deviates(Deviation::message_length_in_32_bits)) message.length &= longest_message;
  message.tag = {Purpose::work, entry.number};
  return message;
}

OutgoingMessage SendQueue::send_message(const Entry& entry) const {
  OutgoingMessage message;
  bool solicited = entry.work.solicited;
  if (context_.deviates(Deviation::solicited_lost)) solicited = false;
  if (context_.deviates(Deviation::solicited_added)) solicited = true;
  const bool invalidate = entry.work.invalidate && !context_.deviates(Deviation::invalidate_lost);
  if (invalidate)
    message.opcode =
        solicited ? wire::Opcode::send_solicited_invalidate : wire::Opcode::send_invalidate;
  else
    message.opcode = solicited ? wire::Opcode::send_solicited : wire::Opcode::send;
  message.invalidate = invalidate ? *entry.work.invalidate : 0;
  message.gather = entry.work.gather;
  return message;
}

OutgoingMessage SendQueue::read_request(const Entry& entry) {
  wire::ReadRequestHeader header;
  header.sink_stag = entry.work.sink_stag;
  header.sink_offset = entry.work.sink_offset;
  header.length = entry.work.length;
  header.source_stag = entry.work.remote_stag;
  header.source_offset = entry.work.remote_offset;
  if (context_.deviates(Deviation::read_request_stags_exchanged)) {
    header.sink_stag = entry.work.remote_stag;
    header.source_stag = entry.work.sink_stag;
  }
  if (!context_.decisions.conforming()) spoil(header);
  OutgoingMessage message;
  message.opcode = wire::Opcode::read_request;
  message.header = octets(header);
  return message;
}

void SendQueue::spoil(wire::ReadRequestHeader& header) {
  if (!first_source_stag_) first_source_stag_ = header.source_stag.value();
  if (context_.deviates(Deviation::reads_ask_the_first_buffer))
    header.source_stag = *first_source_stag_;
  if (!first_sink_offset_) first_sink_offset_ = header.sink_offset.value();
  if (context_.deviates(Deviation::read_requests_repeat_sink_offset))
    header.sink_offset = *first_sink_offset_;
  if (header.length.value() == 0 && context_.deviates(Deviation::empty_read_asks_for_an_octet))
    header.length = 1;
}

OutgoingMessage SendQueue::atomic_request(Entry& entry) {
  const Work& work = entry.work;
  const bool add = work.operation == wire::AtomicOperation::fetch_add;
  entry.request_id = next_request_id_++;
  wire::AtomicRequestHeader header;
  header.operation = static_cast<std::uint32_t>(work.operation);
  if (context_.deviates(Deviation::atomic_reserved_bits_set))
    header.operation = header.operation.value() | 0xFFFFFFF0U;
  header.request_id = entry.request_id;
  header.remote_stag = work.remote_stag;
  header.remote_offset = context_.deviates(Deviation::atomic_offset_rounded_down)
                             ? work.remote_offset & ~std::uint64_t{7}
                             : work.remote_offset;
  header.add_or_swap_data = add && context_.deviates(Deviation::fetch_add_data_sent_little_endian)
                                ? __builtin_bswap64(work.add_or_swap)
                                : work.add_or_swap;
  header.add_or_swap_mask = work.add_or_swap_mask;
  // What a FetchAdd does not use is zero and all ones (RFC 7306 section 5.2.1).
  header.compare_data =
      add && !context_.deviates(Deviation::fetch_add_compare_data_set) ? 0 : work.compare;
  header.compare_mask = add && !context_.deviates(Deviation::fetch_add_compare_mask_clear)
                            ? ~std::uint64_t{0}
                            : work.compare_mask;
  if (add && context_.deviates(Deviation::fetch_add_compare_data_set)) header.compare_data = 1;
  if (add && context_.deviates(Deviation::fetch_add_compare_mask_clear)) header.compare_mask = 0;
  OutgoingMessage message;
  message.opcode = wire::Opcode::atomic_request;
  message.header = octets(header);
  return message;
}

void SendQueue::sent(std::uint64_t number) {
  const auto found = std::ranges::find(entries_, number, &Entry::number);
  if (found == entries_.end() || found->progress != Progress::issued) return;
  const bool waits = awaits_response(found->work.kind) &&
                     !context_.deviates(Deviation::read_completes_when_sent) &&
                     !(found->work.kind == WorkKind::atomic &&
                       context_.deviates(Deviation::atomic_completes_when_sent));
  if (!waits) return finish(*found, WorkStatus::success);
  if (flushed_) return finish(*found, WorkStatus::flushed);
  found->progress = Progress::awaiting_response;
}

SendQueue::Entry* SendQueue::outstanding(WorkKind kind) {
  const auto oldest = std::ranges::find_if(entries_.begin(), issued_end(), [&](const Entry& entry) {
    return unanswered(entry) && entry.work.kind == kind;
  });
  return oldest == issued_end() ? nullptr : &*oldest;
}

void SendQueue::respond(Entry& entry, WorkStatus status) {
  if (responses_due_ != 0) --responses_due_;
  if (!context_.decisions.conforming()) answered_since_ = true;
  if (responses_due_ != 0 && context_.deviates(Deviation::two_reads_per_response)) --responses_due_;
  finish(entry, status);
}

void SendQueue::finish(Entry& entry, WorkStatus status) {
  entry.progress = Progress::done;
  // A status that was set before, by blame(), tells more than that the work was flushed.
  if (entry.status == WorkStatus::success) entry.status = status;
  if (context_.deviates(Deviation::work_completes_out_of_order)) {
    announce(entry);
    entry.internal = true;
  }
  retire();
}

void SendQueue::announce(const Entry& entry) {
  if (entry.internal) return;
  if (entry.status == WorkStatus::flushed && context_.deviates(Deviation::work_not_flushed)) return;
  const bool good = entry.status == WorkStatus::success;
  context_.events.push_back(WorkDone{entry.work.id, entry.status,
                                     good ? static_cast<std::size_t>(entry.length) : 0,
                                     entry.original_value});
}

void SendQueue::retire() {
  // rdmap.order.completed-in-submission-order
  while (!entries_.empty() && entries_.front().progress == Progress::done) {
    announce(entries_.front());
    entries_.pop_front();
    if (issued_ != 0) --issued_;
  }
}

void SendQueue::blame(WorkStatus status) {
  const auto oldest = std::ranges::find_if(entries_.begin(), issued_end(), [](const Entry& entry) {
    return unanswered(entry) && awaits_response(entry.work.kind);
  });
  if (oldest != issued_end()) oldest->status = status;
}

void SendQueue::flush(const std::vector<std::uint64_t>& kept, WorkStatus status) {
  refusing_ = flushed_ = true;
  for (Entry& entry : entries_) {
    const bool leaves =
        entry.progress == Progress::issued && std::ranges::find(kept, entry.number) != kept.end();
    if (entry.progress == Progress::done || leaves) continue;
    entry.progress = Progress::done;
    if (entry.status == WorkStatus::success) entry.status = status;
  }
  retire();
}

void SendQueue::end_responses() {
  responses_ended_ = true;
  responses_due_ = 0;
  if (context_.deviates(Deviation::fenced_work_waits_for_a_closed_peer)) ++responses_due_;
  for (std::size_t i = 0; i < issued_; ++i) {
    Entry& entry = entries_[i];
    if (entry.progress == Progress::done || !awaits_response(entry.work.kind)) continue;
    entry.progress = Progress::done;
    entry.status = WorkStatus::flushed;
  }
  retire();
}

}  // namespace rnic::stream
