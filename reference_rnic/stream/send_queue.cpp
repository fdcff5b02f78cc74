// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/send_queue.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace rnic::stream {
namespace {

constexpr std::uint64_t longest_message = std::numeric_limits<std::uint32_t>::max();

std::uint64_t total(const GatherList& pieces) {
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

/// RFC 5040 section 4.3.
wire::Opcode send_opcode(const Work& work) {
  if (work.invalidate)
    return work.solicited ? wire::Opcode::send_solicited_invalidate : wire::Opcode::send_invalidate;
  return work.solicited ? wire::Opcode::send_solicited : wire::Opcode::send;
}

bool is_local_error(WorkStatus status) {
  return status == WorkStatus::local_protection || status == WorkStatus::local_length ||
         status == WorkStatus::local_operation;
}

WorkDone report_of(const PostedWork& entry) {
  const bool good = entry.status == WorkStatus::success;
  return {entry.work.id, entry.status, good ? static_cast<std::size_t>(entry.length) : 0,
          entry.original_value};
}

Fault local_fault(const char* detail) {
  // rdmap.error.local-error-terminate: no header of the peer is copied.
  return {wire::cause::rdmap_local_catastrophic, detail, std::nullopt, std::nullopt};
}

}  // namespace

void SendQueue::post(Work&& work) {
  Entry& entry = entries_.emplace_back(std::move(work));
  entry.length = length_of(entry.work);
  entry.number = next_number_++;
  if (refusing_) finish(entry, WorkStatus::flushed);
}

void SendQueue::post_rtr(OutgoingMessage& message, WorkKind kind) {
  Entry entry;
  entry.work.kind = kind;
  entry.number = next_number_++;
  entry.internal = true;
  entry.progress = Progress::issued;
  message.tag = {Purpose::work, entry.number};
  if (awaits_response(kind)) ++responses_due_;
  entries_.push_front(std::move(entry));
  ++issued_;
}

/// Work is sent in the order in which it was posted (rdmap.order.messages-in-submission-order).
void SendQueue::choose_next() {
  std::size_t next = issued_;
  context_.decisions.ask(&Decisions::next_work, entries_, issued_, next);
  if (next != issued_) std::swap(entries_[issued_], entries_[next]);
}

/// rdmap.resources.outbound-limit-kept
std::size_t SendQueue::outbound_limit() const {
  std::size_t limit = context_.negotiated.ord;
  context_.decisions.ask(&Decisions::outbound_limit, limit);
  return limit;
}

/// Why work cannot be executed, whatever the peer does; checked when its turn comes, so that
/// completions keep their order.
std::optional<WorkStatus> SendQueue::refused(const Entry& entry) const {
  const Work& work = entry.work;
  std::optional<WorkStatus> status;
  if (responses_ended_ && awaits_response(work.kind)) {
    status = WorkStatus::flushed;
  } else if (entry.length > longest_message) {
    status = WorkStatus::local_length;  // ddp.segmentation.message-below-4gib
  } else if (awaits_response(work.kind) && outbound_limit() == 0) {
    status = WorkStatus::local_operation;
  } else if (work.kind == WorkKind::read && work.length != 0 &&
             !context_.memory.resolve(work.sink_stag, work.sink_offset, work.length,
                                      MemoryAccess::read_sink)) {
    status = WorkStatus::local_protection;
  }
  context_.decisions.ask(&Decisions::refused, entry, status);
  return status;
}

/// RFC 5040 sections 5.5 (the fence is the consumer's) and 6.1.
bool SendQueue::must_wait(const Entry& entry) const {
  static constexpr bool may_wait[] = {true, false};
  const bool fence = entry.work.fence && responses_due_ != 0;
  const bool free = !fence && responses_due_ != 0 && entry.work.kind != WorkKind::local &&
                    !awaits_response(entry.work.kind);
  const Choice<bool> choice{"rdmap.order.send-may-pass-read", fence,
                            free ? std::span(may_wait) : std::span(&may_wait[fence ? 0 : 1], 1)};
  const bool fenced = context_.decisions.decide(
      choice, &Decisions::fence, FenceState{entry, responses_due_, responses_ended_});
  return fenced || (awaits_response(entry.work.kind) && responses_due_ >= outbound_limit());
}

/// Whether nothing holds back the entry that is next in turn; false if there is none.
std::expected<bool, Fault> SendQueue::next_may_go() {
  while (waiting()) {
    Entry& entry = entries_[issued_];
    if (entry.progress == Progress::done) {
      ++issued_;
      continue;
    }
    if (const auto status = refused(entry)) {
      finish(entry, *status);
      if (is_local_error(*status))
        return std::unexpected(local_fault("posted work cannot be executed"));
      continue;
    }
    return !must_wait(entry);
  }
  return false;
}

std::optional<Fault> SendQueue::perform_local() {
  Entry& entry = entries_[issued_++];
  const bool done = context_.memory.perform_local(entry.work.id);
  finish(entry, done ? WorkStatus::success : WorkStatus::local_operation);
  if (done) return std::nullopt;
  return local_fault("a local operation failed");
}

std::expected<std::optional<OutgoingMessage>, Fault> SendQueue::next() {
  if (waiting()) choose_next();
  while (true) {
    const auto may_go = next_may_go();
    if (!may_go) return std::unexpected(may_go.error());
    if (!*may_go) return std::nullopt;
    if (!local_is_next()) return message_for(entries_[issued_++]);
    if (auto fault = perform_local()) return std::unexpected(std::move(*fault));
  }
}

std::optional<Fault> SendQueue::run_local() {
  if (local_is_next()) choose_next();
  while (local_is_next()) {
    const auto may_go = next_may_go();
    if (!may_go) return may_go.error();
    if (!*may_go || !local_is_next()) break;
    if (auto fault = perform_local()) return fault;
  }
  return std::nullopt;
}

std::expected<std::optional<OutgoingMessage>, Fault> SendQueue::message_for(Entry& entry) {
  entry.progress = Progress::issued;
  if (awaits_response(entry.work.kind)) ++responses_due_;
  // It is made where it is returned.
  std::expected<std::optional<OutgoingMessage>, Fault> made(std::in_place, std::in_place);
  OutgoingMessage& message = **made;
  switch (entry.work.kind) {
    case WorkKind::send:
      message.opcode = send_opcode(entry.work);
      message.invalidate = entry.work.invalidate.value_or(0);
      message.gather = entry.work.gather;
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
    case WorkKind::immediate:
      message.opcode =
          entry.work.solicited ? wire::Opcode::immediate_solicited : wire::Opcode::immediate;
      message.header.assign(entry.work.immediate.begin(), entry.work.immediate.end());
      break;
    case WorkKind::local:
      break;
  }
  message.length = message.header.size() + total(message.gather);
  message.tag = {Purpose::work, entry.number};
  context_.decisions.ask(&Decisions::work_message, entry, message);
  return made;
}

/// RFC 5040 section 4.4.
OutgoingMessage SendQueue::read_request(const Entry& entry) const {
  wire::ReadRequestHeader header;
  header.sink_stag = entry.work.sink_stag;
  header.sink_offset = entry.work.sink_offset;
  header.length = entry.work.length;
  header.source_stag = entry.work.remote_stag;
  header.source_offset = entry.work.remote_offset;
  context_.decisions.ask(&Decisions::read_request, entry, header);
  OutgoingMessage message;
  message.opcode = wire::Opcode::read_request;
  message.header = octets(header);
  return message;
}

/// RFC 7306 section 5.2.1.
OutgoingMessage SendQueue::atomic_request(Entry& entry) {
  const Work& work = entry.work;
  const bool add = work.operation == wire::AtomicOperation::fetch_add;
  entry.request_id = next_request_id_++;
  wire::AtomicRequestHeader header;
  header.operation = static_cast<std::uint32_t>(work.operation);
  header.request_id = entry.request_id;
  header.remote_stag = work.remote_stag;
  header.remote_offset = work.remote_offset;
  header.add_or_swap_data = work.add_or_swap;
  header.add_or_swap_mask = work.add_or_swap_mask;
  // What a FetchAdd does not use is zero and all ones.
  header.compare_data = add ? 0 : work.compare;
  header.compare_mask = add ? ~std::uint64_t{0} : work.compare_mask;
  context_.decisions.ask(&Decisions::atomic_request, entry, header);
  OutgoingMessage message;
  message.opcode = wire::Opcode::atomic_request;
  message.header = octets(header);
  return message;
}

void SendQueue::sent(std::uint64_t number) {
  const auto found = std::ranges::find(entries_, number, &Entry::number);
  if (found == entries_.end() || found->progress != Progress::issued) return;
  // rdmap.order.read-completes-after-response, rdmap.atomic.completes-after-response
  bool waits = awaits_response(found->work.kind);
  context_.decisions.ask(&Decisions::awaits_response, *found, waits);
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
  context_.decisions.ask(&Decisions::answered, responses_due_);
  finish(entry, status);
}

void SendQueue::finish(Entry& entry, WorkStatus status) {
  entry.progress = Progress::done;
  // A status that blame() set earlier says more than that the work was flushed.
  if (entry.status == WorkStatus::success) entry.status = status;
  retire();
}

void SendQueue::announce(const Entry& entry) {
  std::optional<WorkDone> report;
  if (!entry.internal) report = report_of(entry);
  context_.decisions.ask(&Decisions::completion, entry, report);
  if (report) context_.events.push_back(*report);
}

/// rdmap.order.completed-in-submission-order
std::size_t SendQueue::next_completion() const {
  const bool first_is_done = !entries_.empty() && entries_.front().progress == Progress::done;
  std::size_t next = first_is_done ? 0 : entries_.size();
  context_.decisions.ask(&Decisions::next_completion, entries_, next);
  return next;
}

void SendQueue::retire() {
  for (std::size_t next = next_completion(); next < entries_.size(); next = next_completion()) {
    announce(entries_[next]);
    if (next == 0)
      entries_.pop_front();
    else
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(next));
    if (next < issued_) --issued_;
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
  for (std::size_t i = 0; i < issued_; ++i) {
    Entry& entry = entries_[i];
    if (entry.progress == Progress::done || !awaits_response(entry.work.kind)) continue;
    entry.progress = Progress::done;
    entry.status = WorkStatus::flushed;
  }
  retire();
}

}  // namespace rnic::stream
