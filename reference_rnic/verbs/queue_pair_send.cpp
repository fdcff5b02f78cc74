// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The send queue: requests checked, given to the stream in order, and completed once each.
#include <algorithm>
#include <cstring>
#include <vector>

#include "reference_rnic/verbs/queue_pair.hpp"
#include "reference_rnic/verbs/work_rules.hpp"

namespace rnic::verbs {

// ---- posting ----

std::optional<Error> QueuePair::refuse(const SendRequest& request) const {
  const auto decided = [&](std::optional<Error> refused) {
    core_.decisions.ask(&Decisions::post_checked, Posting{handle_, state_, request}, refused);
    return refused;
  };
  const bool accepts = state_ == QueuePairState::rts || state_ == QueuePairState::terminate ||
                       state_ == QueuePairState::error;
  if (const auto error = decided(accepts ? std::nullopt : std::optional(Error::invalid_state)))
    return error;
  if (const auto error = decided(fault_in(request, attributes_.max_pieces, attributes_.max_inline)))
    return error;
  if (request.operation == Operation::bind_window)
    if (const auto error = decided(refuse(request.bind))) return error;
  if (request.operation == Operation::register_region)
    if (const auto error = decided(refuse(request.registration))) return error;
  if (sends_.size() >= attributes_.send_depth) return Error::queue_full;
  return std::nullopt;
}

std::expected<void, PostError> QueuePair::post_send(std::span<const SendRequest> requests) {
  const auto result = core_.post_list(
      requests, [this](const SendRequest& request) { return refuse(request); },
      [this](const SendRequest& request) {
        sends_.emplace_back(request, next_id_++);
        take_inline(sends_.back());
      });
  issue();
  if (state_ == QueuePairState::error) flush_sends(0);
  if (link_ != nullptr) link_->posted();
  return result;
}

/// Copies inline data, since its consumer may write to the memory as soon as the request is posted.
void QueuePair::take_inline(Sent& sent) const {
  auto& pieces = sent.request.inline_data;
  if (pieces.empty()) return;
  bool taken = true;  // verbs.post.inline-data-taken-at-once
  core_.decisions.ask(&Decisions::inline_taken, sent.request, taken);
  if (!taken) return;
  for (const wire::Bytes piece : pieces)
    sent.inline_octets.insert(sent.inline_octets.end(), piece.begin(), piece.end());
  std::size_t start = 0;
  for (wire::Bytes& piece : pieces) {
    piece = wire::Bytes(sent.inline_octets).subspan(start, piece.size());
    start += piece.size();
  }
}

/// Gives the stream what it may have, in the order of posting (RFC 5040 section 5.5, item 13). A
/// bind or invalidate changes the meaning of the STags of later requests, so those wait until it
/// has been executed. They do not wait for its completion, which comes after that of earlier Reads:
/// only a fence makes work wait for those (item 12).
void QueuePair::issue() {
  std::optional<stream::TimePoint> now;
  while (issued_ < sends_.size() && !local_work_) {
    Sent& sent = sends_[issued_];
    bool completes = false;  // rdmap.order.completion-after-ddp
    core_.decisions.ask(&Decisions::work_issued, link_ != nullptr, sent.request, completes);
    if (link_ == nullptr && !completes) break;
    ++issued_;
    if (link_ != nullptr) {
      if (!now) now = core_.host.now();
      give_to_stream(sent, *now);
    }
    if (completes) finish(sent, Status::success);
  }
  retire();
}

void QueuePair::give_to_stream(Sent& sent, stream::TimePoint now) {
  stream::Work work = work_for(sent);
  if (work.kind == stream::WorkKind::local) local_work_ = sent.id;
  link_->post(std::move(work), now);
}

void QueuePair::go_on() {
  if (link_ != nullptr && issued_ < sends_.size() && !local_work_) issue();
}

stream::Work QueuePair::work_for(Sent& sent) {
  stream::Work work;
  work.id = sent.id;
  work.fence = sent.request.fence;
  sent.length = static_cast<std::uint32_t>(total_length(sent.request.pieces) +
                                           total_length(sent.request.inline_data));
  sent.fault = fill(work, sent.request);
  if (sent.fault)
    work.kind = stream::WorkKind::
        local;  // it fails when its turn comes, not before the requests ahead of it
  else
    core_.decisions.ask(&Decisions::work_made, sent.request, work);
  return work;
}

std::optional<Status> QueuePair::fill(stream::Work& work, const SendRequest& request) {
  work.remote_stag = request.remote_stag;
  work.remote_offset = request.remote_offset;
  work.solicited = is_solicited(request.operation);
  work.kind = work_kind(request.operation);
  switch (work.kind) {
    case stream::WorkKind::send:
      if (carries_invalidate(request.operation)) work.invalidate = request.invalidate_stag;
      return gather(work, request);
    case stream::WorkKind::write:
      return gather(work, request);
    case stream::WorkKind::read: {
      if (request.pieces.empty()) return std::nullopt;
      const Piece& sink = request.pieces.front();
      work.sink_stag = sink.stag;
      work.sink_offset = sink.offset;
      work.length = sink.length;
      if (sink.length == 0) return std::nullopt;
      if (core_.tags.resolve(requester(), sink.stag, sink.offset, sink.length, Need::read_sink))
        return std::nullopt;
      return Status::local_protection;
    }
    case stream::WorkKind::atomic: {
      const Piece& sink = request.pieces.front();
      work.operation = request.operation == Operation::fetch_add
                           ? wire::AtomicOperation::fetch_add
                           : wire::AtomicOperation::compare_swap;
      work.add_or_swap = request.add_or_swap;
      work.add_or_swap_mask = request.add_or_swap_mask.value_or(
          request.operation == Operation::fetch_add ? 0 : ~std::uint64_t{0});
      work.compare = request.compare;
      work.compare_mask = request.compare_mask;
      if (core_.tags.resolve(requester(), sink.stag, sink.offset, sink.length, Need::local_write))
        return std::nullopt;
      return Status::local_protection;
    }
    case stream::WorkKind::immediate:
      work.immediate = request.immediate;
      return std::nullopt;
    case stream::WorkKind::local:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Status> QueuePair::gather(stream::Work& work, const SendRequest& request) {
  for (const wire::Bytes piece : request.inline_data)
    if (!piece.empty()) work.gather.push_back(piece);
  for (const Piece& piece : request.pieces) {
    if (piece.length == 0) continue;
    const auto octets =
        core_.tags.resolve(requester(), piece.stag, piece.offset, piece.length, Need::local_read);
    if (!octets) return Status::local_protection;
    work.gather.push_back(*octets);
  }
  return std::nullopt;
}

// ---- the send queue's completions ----

auto QueuePair::find_sent(std::uint64_t id) -> Sent* {
  if (!sends_.empty() && sends_.front().id == id) return &sends_.front();
  // Receives are numbered too, so the numbers of the requests here ascend with gaps.
  const auto found = std::ranges::lower_bound(sends_, id, {}, &Sent::id);
  return found != sends_.end() && found->id == id ? &*found : nullptr;
}

bool QueuePair::work_done(const stream::WorkDone& event) {
  Sent* sent = find_sent(event.id);
  if (sent == nullptr) {
    report({.moment = WorkEvent::Moment::own_work_done,
            .id = event.id,
            .status = status_of(event.status)},
           attributes_.send_completions, std::nullopt);
    return false;
  }
  Status status = status_of(event.status);
  if (status == Status::local_operation && sent->fault) status = *sent->fault;
  if (status == Status::success) {
    if (work_kind(sent->request.operation) == stream::WorkKind::atomic)
      store_original(*sent, event.original_value);
    if (sent->request.operation == Operation::read_invalidate &&
        !invalidate_locally(sent->request.pieces.front().stag))
      status = Status::invalidation;
  }
  finish(*sent, status);
  if (local_work_ == event.id) local_work_.reset();
  issue();
  return status != Status::success && status != Status::flushed;
}

void QueuePair::store_original(const Sent& sent, std::uint64_t original) {
  const Piece& sink = sent.request.pieces.front();
  const auto octets =
      core_.tags.resolve(requester(), sink.stag, sink.offset, sizeof original, Need::local_write);
  core_.decisions.ask(&Decisions::atomic_answered, original);
  if (octets) std::memcpy(octets->data(), &original, sizeof original);
}

/// The stream reports work in the order of posting (RFC 5040 section 5.5); after a failure nothing
/// counts as done.
void QueuePair::finish(Sent& sent, Status status) {
  if (sent.done) return;
  sent.done = true;
  sent.status = broken_ && status == Status::success ? Status::flushed : status;
  if (sent.status != Status::success) broken_ = true;
  complete_sent(sent);
}

void QueuePair::retire() {
  while (!sends_.empty() && sends_.front().done) {
    sends_.pop_front();
    --issued_;
  }
}

void QueuePair::complete_sent(const Sent& sent) {
  const bool failed = sent.status != Status::success;
  const bool signaled = sent.request.signaled || attributes_.signal_all;
  std::optional<Completion> completion;
  if (failed || signaled)
    completion = Completion{.id = sent.request.id,
                            .queue_pair = handle_,
                            .operation = sent.request.operation,
                            .status = sent.status,
                            .length = failed ? 0 : sent.length};
  report({.id = sent.request.id,
          .room = sent.length,
          .signaled = signaled,
          .signaled_by_request = sent.request.signaled,
          .operation = sent.request.operation},
         attributes_.send_completions, completion);
}

void QueuePair::report(WorkEvent event, CompletionQueueHandle queue,
                       const std::optional<Completion>& completion) {
  if (core_.decisions.empty()) {
    if (completion) core_.complete(queue, *completion);
    return;
  }
  event.queue_pair = handle_;
  std::vector<Completion> completions;
  if (completion) completions.push_back(*completion);
  core_.decisions.ask(&Decisions::work_reported, event, completions);
  for (const Completion& each : completions) core_.complete(queue, each);
}

void QueuePair::flush_sends(std::size_t first) {
  for (std::size_t i = first; i < sends_.size(); ++i) finish(sends_[i], Status::flushed);
  sends_.clear();
  issued_ = 0;
  local_work_.reset();
}

// ---- local work ----

bool QueuePair::perform_local(std::uint64_t work_id) {
  Sent* sent = find_sent(work_id);
  if (sent == nullptr || sent->fault) return false;
  const SendRequest& request = sent->request;
  const bool invalidates = request.operation == Operation::local_invalidate;
  const bool done = invalidates ? invalidate_locally(request.invalidate_stag)
                    : request.operation == Operation::bind_window
                        ? bind(request.bind)
                        : register_region(request.registration);
  if (done)
    local_work_.reset();
  else
    sent->fault = invalidates ? Status::invalidation : Status::bind;
  return done;
}

}  // namespace rnic::verbs
