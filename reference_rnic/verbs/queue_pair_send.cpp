// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The send queue: requests checked, given to the stream in order, and completed once each.
#include <algorithm>
#include <cstring>
#include <limits>

#include "reference_rnic/verbs/queue_pair.hpp"
#include "reference_rnic/verbs/work_rules.hpp"

namespace rnic::verbs {

namespace {

constexpr std::uint64_t page = 4096;  ///< octets; only a deviation knows of pages

}  // namespace

// ---- posting ----

std::optional<Error> QueuePair::refuse(const SendRequest& request) const {
  const bool accepts = state_ == QueuePairState::rts || state_ == QueuePairState::terminate ||
                       state_ == QueuePairState::error ||
                       core_.deviates(stream::Deviation::unconnected_work_succeeds) ||
                       (state_ == QueuePairState::closing &&
                        core_.deviates(stream::Deviation::work_taken_after_disconnect));
  if (!accepts) return Error::invalid_state;
  const bool short_enough =
      total_length(request.pieces) <= std::numeric_limits<std::uint32_t>::max() ||
      !core_.deviates(stream::Deviation::message_length_in_32_bits);
  if (auto error = fault_in(request, attributes_.max_pieces); error && short_enough) return error;
  if (request.operation == Operation::bind_window) {
    const Window* window = core_.windows.find(request.bind.window);
    const Region* region = core_.regions.find(request.bind.region);
    const bool unbinds = request.bind.length == 0;
    if (window == nullptr || (region == nullptr && !unbinds)) return Error::invalid_handle;
    if (window->domain != attributes_.domain ||
        (region != nullptr && region->domain != attributes_.domain))
      return Error::wrong_domain;
  }
  if (sends_.size() >= attributes_.send_depth) return Error::queue_full;
  return std::nullopt;
}

std::expected<void, PostError> QueuePair::post_send(std::span<const SendRequest> requests) {
  std::expected<void, PostError> result;
  for (const SendRequest& request : requests) {
    if (const auto error = refuse(request)) {
      result = std::unexpected(PostError{*error, index_in(requests, request)});
      break;
    }
    Sent& sent = sends_.emplace_back();
    sent.request = request;
    sent.id = next_id_++;
    if (link_ == nullptr && core_.deviates(stream::Deviation::unconnected_work_succeeds)) {
      ++issued_;
      finish(sent, Status::success);
    }
  }
  if (state_ == QueuePairState::error) {
    if (!core_.deviates(stream::Deviation::late_work_never_completes)) flush_sends(0);
    return result;
  }
  issue();
  if (link_ != nullptr) link_->posted();
  return result;
}

/// Gives the stream what it may have. Behind a bind or invalidate the STags of later requests mean
/// something else, so those wait for it.
void QueuePair::issue() {
  while (link_ != nullptr && issued_ < sends_.size() && !barrier_) {
    Sent& sent = sends_[issued_++];
    stream::Work work = work_for(sent);
    barrier_ = work.kind == stream::WorkKind::local;
    link_->post(std::move(work));
    if (is_send(sent.request.operation) &&
        core_.deviates(stream::Deviation::send_completes_before_sending))
      finish(sent, Status::success);
  }
  retire();
}

stream::Work QueuePair::work_for(Sent& sent) {
  stream::Work work;
  work.id = sent.id;
  work.fence = sent.request.fence;
  sent.length = static_cast<std::uint32_t>(total_length(sent.request.pieces));
  sent.fault = fill(work, sent.request);
  if (sent.fault)
    work.kind = stream::WorkKind::local;  // it fails in its turn, not before those ahead of it
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
      if (!request.add_or_swap_mask &&
          core_.deviates(stream::Deviation::plain_atomics_with_masks_exchanged))
        work.add_or_swap_mask = ~work.add_or_swap_mask;
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
  for (const Piece& piece : request.pieces) {
    if (piece.length == 0) continue;
    const auto octets =
        core_.tags.resolve(requester(), piece.stag, piece.offset, piece.length, Need::local_read);
    if (!octets) return Status::local_protection;
    if (&piece == request.pieces.data() + 2 &&
        core_.deviates(stream::Deviation::third_piece_left_out))
      continue;
    if (core_.deviates(stream::Deviation::page_boundary_repeats) && piece.length <= page) {
      // What lies behind the next boundary is what lies before it.
      const std::uint64_t in_page =
          std::min<std::uint64_t>(piece.length, page - piece.offset % page);
      work.gather.push_back(wire::Bytes(*octets).first(in_page));
      work.gather.push_back(wire::Bytes(*octets).first(piece.length - in_page));
      continue;
    }
    work.gather.push_back(*octets);
  }
  return std::nullopt;
}

// ---- the send queue's completions ----

auto QueuePair::find_sent(std::uint64_t id) -> Sent* {
  // Receives are numbered too, so that those of the requests here ascend with gaps.
  const auto found = std::ranges::lower_bound(sends_, id, {}, &Sent::id);
  return found != sends_.end() && found->id == id ? &*found : nullptr;
}

bool QueuePair::work_done(const stream::WorkDone& news) {
  if (!core_.decisions.conforming()) {
    if (news.id == own_work) {
      core_.complete(attributes_.send_completions,
                     {.queue_pair = handle_, .status = status_of(news.status)});
      return false;
    }
  }
  Sent* sent = find_sent(news.id);
  if (sent == nullptr && core_.deviates(stream::Deviation::rtr_completion_shown))
    core_.complete(attributes_.send_completions, {.id = news.id, .queue_pair = handle_});
  if (sent == nullptr) return false;
  const bool local = sent->fault || work_kind(sent->request.operation) == stream::WorkKind::local;
  Status status = status_of(news.status);
  if (status == Status::local_operation && sent->fault) status = *sent->fault;
  if (status == Status::success) {
    if (work_kind(sent->request.operation) == stream::WorkKind::atomic)
      store_original(*sent, news.original_value);
    if (sent->request.operation == Operation::read_invalidate &&
        !invalidate_locally(sent->request.pieces.front().stag))
      status = Status::invalidation;
  }
  finish(*sent, status);
  if (local) barrier_ = false;
  issue();
  return status != Status::success && status != Status::flushed;
}

void QueuePair::store_original(const Sent& sent, std::uint64_t original) {
  const Piece& sink = sent.request.pieces.front();
  const auto octets =
      core_.tags.resolve(requester(), sink.stag, sink.offset, sizeof original, Need::local_write);
  if (core_.deviates(stream::Deviation::atomic_original_withheld)) original = 0;
  if (octets) std::memcpy(octets->data(), &original, sizeof original);
}

/// The stream reports work in the order of posting (RFC 5040 section 5.5); behind a failure nothing
/// counts as done any more.
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
  Completion completion{.id = sent.request.id,
                        .queue_pair = handle_,
                        .operation = sent.request.operation,
                        .status = sent.status,
                        .length = sent.status == Status::success ? sent.length : 0};
  if (core_.deviates(stream::Deviation::read_completes_as_send) &&
      completion.operation == Operation::read)
    completion.operation = Operation::send;
  const bool failed = sent.status != Status::success;
  const bool signaled = sent.request.signaled || attributes_.signal_all;
  if (!failed && !signaled) return;
  if (failed && !signaled && core_.deviates(stream::Deviation::unsignaled_failure_silent)) return;
  if (sent.status == Status::flushed &&
      core_.deviates(stream::Deviation::flush_reported_as_success))
    completion.status = Status::success;
  if (failed && work_kind(sent.request.operation) == stream::WorkKind::read &&
      core_.deviates(stream::Deviation::read_failure_reported_as_success))
    completion.status = Status::success;
  core_.complete(attributes_.send_completions, completion);
}

void QueuePair::flush_sends(std::size_t first) {
  for (std::size_t i = first; i < sends_.size(); ++i) finish(sends_[i], Status::flushed);
  sends_.clear();
  issued_ = 0;
  barrier_ = false;
}

// ---- local work ----

bool QueuePair::perform_local(std::uint64_t work_id) {
  Sent* sent = find_sent(work_id);
  if (sent == nullptr || sent->fault) return false;
  const SendRequest& request = sent->request;
  if (request.operation == Operation::bind_window) {
    if (bind(request.bind)) return true;
    sent->fault = Status::bind;
    return false;
  }
  if (invalidate_locally(request.invalidate_stag)) return true;
  sent->fault = Status::invalidation;
  return false;
}

}  // namespace rnic::verbs
