// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A queue pair: the order of its work, the one completion that each request gets, and the flush at
// the end.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "reference_rnic/verbs/core.hpp"
#include "reference_rnic/verbs/queue_pair_state.hpp"
#include "reference_rnic/verbs/work_rules.hpp"
#include "reference_rnic/wire/terminate.hpp"

namespace rnic::verbs {

/// What a queue pair asks of the stream under it.
class StreamLink {
 public:
  virtual ~StreamLink() = default;
  virtual void post(stream::Work work) = 0;
  virtual void posted() = 0;  ///< after one or more post()
  virtual void close_from_pair() = 0;
  virtual void abort_from_pair() = 0;
  virtual void abandon() = 0;  ///< the queue pair is being destroyed
};

template <typename Policy>
class QueuePair {
 public:
  QueuePair(Core<Policy>& core, QueuePairHandle handle, const QueuePairAttributes& attributes)
      : core_(core), handle_(handle), attributes_(attributes) {}
  ~QueuePair();
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  // -- the consumer's side --
  [[nodiscard]] std::expected<void, PostError> post_send(std::span<const SendRequest> requests);
  [[nodiscard]] std::expected<void, PostError> post_receive(
      std::span<const ReceiveRequest> requests);
  [[nodiscard]] std::expected<void, Error> close();
  void abort();
  [[nodiscard]] std::expected<void, Error> reset();
  [[nodiscard]] QueuePairInfo info() const;
  [[nodiscard]] const QueuePairAttributes& attributes() const { return attributes_; }
  [[nodiscard]] Requester requester() const { return {attributes_.domain, handle_}; }
  [[nodiscard]] bool uses(CompletionQueueHandle queue) const {
    return attributes_.send_completions == queue || attributes_.receive_completions == queue;
  }

  // -- the stream's side --
  [[nodiscard]] bool attach(StreamLink& link);
  void established() { move(StateInput::established); }
  void closing() { move(StateInput::close_asked); }
  /// True if the stream must not go on after this.
  [[nodiscard]] bool work_done(const stream::WorkDone& news);
  void message_received(const stream::MessageReceived& news);
  void receive_failed(const stream::ReceiveFailed& news);
  void terminate_received(wire::TerminateCause cause);
  void stream_failed(wire::TerminateCause cause, const std::string& detail);
  void stream_lost();
  /// Once all news are heard: after a fault no message comes any more, so receives need not wait
  /// for the peer to close (RFC 5040 section 6.2.1). Sends are flushed by the stream.
  void flush_after_fault();
  /// Nothing more comes from the stream: what is still posted is flushed. A stream that has
  /// `closed` has told the end of all work that it had.
  void stream_ended(bool closed);

  // -- memory for the stream --
  [[nodiscard]] std::expected<void, stream::MemoryFault> invalidate_by_peer(std::uint32_t stag);
  [[nodiscard]] std::optional<stream::ReceiveBuffer> take_receive();
  [[nodiscard]] bool perform_local(std::uint64_t work_id);

 private:
  /// A request of the send queue, from posting to its completion.
  struct Sent {
    SendRequest request;
    std::uint64_t id = 0;  ///< towards the stream
    bool done = false;
    Status status = Status::success;
    std::uint32_t length = 0;
    std::optional<Status> fault;  ///< found before the stream saw it; it fails in its turn
  };
  struct Taken {
    ReceiveRequest request;
    std::uint64_t id = 0;
    bool completed_early = false;
  };

  void move(StateInput input);
  [[nodiscard]] std::optional<Error> refuse(const SendRequest& request) const;
  void issue();
  [[nodiscard]] stream::Work work_for(Sent& sent);
  [[nodiscard]] std::optional<Status> fill(stream::Work& work, const SendRequest& request);
  [[nodiscard]] std::optional<Status> gather(stream::Work& work, const SendRequest& request);
  [[nodiscard]] Sent* find_sent(std::uint64_t id);
  void store_original(const Sent& sent, std::uint64_t original);
  void finish(Sent& sent, Status status);
  void retire();
  void complete_sent(const Sent& sent);
  void flush_sends(std::size_t first);
  void flush_receives();
  [[nodiscard]] std::optional<ReceiveRequest> next_receive();
  [[nodiscard]] const Taken* give_back(std::uint64_t id);
  void complete_receive(const ReceiveRequest& request, Completion completion);
  [[nodiscard]] bool bind(const BindRequest& request);
  [[nodiscard]] bool invalidate_locally(std::uint32_t stag);
  void raise(AsyncKind kind, std::optional<wire::TerminateCause> cause, const std::string& detail);

  static constexpr std::uint64_t own_work =
      0;  ///< what the stream does for itself, such as the RTR

  Core<Policy>& core_;
  QueuePairHandle handle_;
  QueuePairAttributes attributes_;
  QueuePairState state_ = QueuePairState::idle;
  StreamLink* link_ = nullptr;
  std::deque<Sent> sends_;
  std::size_t issued_ = 0;  ///< of sends_, how many the stream has
  bool barrier_ = false;    ///< local work is issued and not done: what follows may depend on it
  bool broken_ = false;     ///< a request failed: those after it are flushed
  std::deque<ReceiveRequest> receives_;
  std::deque<Taken> taken_;              ///< the stream has their buffers
  Taken given_back_;                     ///< the latest
  std::optional<Completion> held_back_;  ///< by a deviation
  std::uint64_t next_id_ = 1;
};

template <typename Policy>
QueuePair<Policy>::~QueuePair() {
  if (link_ == nullptr) return;
  if (Domain* domain = core_.domains.find(attributes_.domain)) --domain->streams;
  link_->abandon();
}

template <typename Policy>
void QueuePair<Policy>::move(StateInput input) {
  if (const auto next = next_state(state_, input)) state_ = *next;
}

template <typename Policy>
bool QueuePair<Policy>::attach(StreamLink& link) {
  if (link_ != nullptr || state_ != QueuePairState::idle) return false;
  link_ = &link;
  if (Domain* domain = core_.domains.find(attributes_.domain)) ++domain->streams;
  return true;
}

// ---- posting ----

template <typename Policy>
std::optional<Error> QueuePair<Policy>::refuse(const SendRequest& request) const {
  const bool accepts = state_ == QueuePairState::rts || state_ == QueuePairState::terminate ||
                       state_ == QueuePairState::error;
  if (!accepts) return Error::invalid_state;
  if (auto error = fault_in(request, attributes_.max_pieces)) return error;
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

template <typename Policy>
std::expected<void, PostError> QueuePair<Policy>::post_send(std::span<const SendRequest> requests) {
  std::expected<void, PostError> result;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (const auto error = refuse(requests[i])) {
      result = std::unexpected(PostError{*error, i});
      break;
    }
    Sent& sent = sends_.emplace_back();
    sent.request = requests[i];
    sent.id = next_id_++;
  }
  if (state_ == QueuePairState::error) {
    flush_sends(0);
    return result;
  }
  issue();
  if (link_ != nullptr) link_->posted();
  return result;
}

/// Gives the stream what it may have. Behind a bind or invalidate the STags of later requests mean
/// something else, so those wait for it.
template <typename Policy>
void QueuePair<Policy>::issue() {
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

template <typename Policy>
stream::Work QueuePair<Policy>::work_for(Sent& sent) {
  stream::Work work;
  work.id = sent.id;
  work.fence = sent.request.fence;
  sent.length = static_cast<std::uint32_t>(total_length(sent.request.pieces));
  sent.fault = fill(work, sent.request);
  if (sent.fault)
    work.kind = stream::WorkKind::local;  // it fails in its turn, not before those ahead of it
  return work;
}

template <typename Policy>
std::optional<Status> QueuePair<Policy>::fill(stream::Work& work, const SendRequest& request) {
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

template <typename Policy>
std::optional<Status> QueuePair<Policy>::gather(stream::Work& work, const SendRequest& request) {
  for (const Piece& piece : request.pieces) {
    if (piece.length == 0) continue;
    const auto octets =
        core_.tags.resolve(requester(), piece.stag, piece.offset, piece.length, Need::local_read);
    if (!octets) return Status::local_protection;
    work.gather.push_back(*octets);
  }
  return std::nullopt;
}

template <typename Policy>
std::expected<void, PostError> QueuePair<Policy>::post_receive(
    std::span<const ReceiveRequest> requests) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (attributes_.shared_queue) return std::unexpected(PostError{Error::invalid_parameter, i});
    if (const auto error = fault_in(requests[i], attributes_.max_pieces))
      return std::unexpected(PostError{*error, i});
    if (receives_.size() + taken_.size() >= attributes_.receive_depth)
      return std::unexpected(PostError{Error::queue_full, i});
    receives_.push_back(requests[i]);
  }
  if (state_ == QueuePairState::error || state_ == QueuePairState::terminate) flush_receives();
  return {};
}

// ---- the send queue's completions ----

template <typename Policy>
auto QueuePair<Policy>::find_sent(std::uint64_t id) -> Sent* {
  if (sends_.empty() || id < sends_.front().id || id - sends_.front().id >= sends_.size())
    return nullptr;
  return &sends_[id - sends_.front().id];
}

template <typename Policy>
bool QueuePair<Policy>::work_done(const stream::WorkDone& news) {
  if (news.id == own_work) {  // only a deviation shows it
    core_.complete(attributes_.send_completions,
                   {.queue_pair = handle_, .status = status_of(news.status)});
    return false;
  }
  Sent* sent = find_sent(news.id);
  if (sent == nullptr && core_.deviates(stream::Deviation::rtr_completion_shown))
    core_.complete(attributes_.send_completions, {.id = news.id, .queue_pair = handle_});
  if (sent == nullptr || sent->done) return false;
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
  retire();
  issue();
  return status != Status::success && status != Status::flushed;
}

template <typename Policy>
void QueuePair<Policy>::store_original(const Sent& sent, std::uint64_t original) {
  const Piece& sink = sent.request.pieces.front();
  const auto octets =
      core_.tags.resolve(requester(), sink.stag, sink.offset, sizeof original, Need::local_write);
  if (core_.deviates(stream::Deviation::atomic_original_withheld)) original = 0;
  if (octets) std::memcpy(octets->data(), &original, sizeof original);
}

/// The stream reports work in the order of posting (RFC 5040 section 5.5); behind a failure nothing
/// counts as done any more.
template <typename Policy>
void QueuePair<Policy>::finish(Sent& sent, Status status) {
  if (sent.done) return;
  sent.done = true;
  sent.status = broken_ && status == Status::success ? Status::flushed : status;
  if (sent.status != Status::success) broken_ = true;
  complete_sent(sent);
}

template <typename Policy>
void QueuePair<Policy>::retire() {
  while (!sends_.empty() && sends_.front().done) {
    sends_.pop_front();
    --issued_;
  }
}

template <typename Policy>
void QueuePair<Policy>::complete_sent(const Sent& sent) {
  Completion completion{.id = sent.request.id,
                        .queue_pair = handle_,
                        .operation = sent.request.operation,
                        .status = sent.status,
                        .length = sent.status == Status::success ? sent.length : 0};
  const bool failed = sent.status != Status::success;
  const bool signaled = sent.request.signaled || attributes_.signal_all;
  if (!failed && !signaled) return;
  if (failed && !signaled && core_.deviates(stream::Deviation::unsignaled_failure_silent)) return;
  if (sent.status == Status::flushed &&
      core_.deviates(stream::Deviation::flush_reported_as_success))
    completion.status = Status::success;
  const bool reads = work_kind(sent.request.operation) == stream::WorkKind::read;
  if (failed && reads && core_.deviates(stream::Deviation::read_failure_reported_as_success))
    completion.status = Status::success;
  core_.complete(attributes_.send_completions, completion);
}

template <typename Policy>
void QueuePair<Policy>::flush_sends(std::size_t first) {
  for (std::size_t i = first; i < sends_.size(); ++i) finish(sends_[i], Status::flushed);
  sends_.clear();
  issued_ = 0;
  barrier_ = false;
}

// ---- local work ----

template <typename Policy>
bool QueuePair<Policy>::perform_local(std::uint64_t work_id) {
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

template <typename Policy>
bool QueuePair<Policy>::invalidate_locally(std::uint32_t stag) {
  Tag* tag = core_.tags.at_index(stag);
  if (tag == nullptr || tag->stag != stag || !tag->valid || tag->domain != attributes_.domain)
    return false;
  if ((tag->only_for && *tag->only_for != handle_) || core_.has_windows(*tag)) return false;
  if (!core_.deviates(stream::Deviation::local_invalidate_without_effect)) core_.invalidate(*tag);
  return true;
}

template <typename Policy>
bool QueuePair<Policy>::bind(const BindRequest& request) {
  Window* window = core_.windows.find(request.window);
  Tag* tag = window == nullptr ? nullptr : core_.tags.at_index(window->info.stag);
  if (tag == nullptr) return false;
  if (window->info.bound && tag->only_for && *tag->only_for != handle_) return false;
  if (request.length == 0) {
    if (window->info.bound && !core_.deviates(stream::Deviation::unbind_without_effect))
      core_.unbind(*window);
    return true;
  }
  Region* region = core_.regions.find(request.region);
  const Tag* under = region == nullptr ? nullptr : core_.tags.at_index(region->info.stag);
  if (under == nullptr || !admits_window(*under, request)) return false;
  if (window->info.bound) core_.unbind(*window);
  if (request.key) window->info.stag = (window->info.stag & ~0xFFU) | *request.key;
  tag->stag = window->info.stag;
  tag->memory = under->memory.subspan(request.offset - under->base, request.length);
  tag->base = request.zero_based ? 0 : request.offset;
  tag->access = {.local_write = false,
                 .remote_read = request.access.remote_read,
                 .remote_write = request.access.remote_write,
                 .remote_atomic = request.access.remote_atomic,
                 .bind_window = false};
  tag->only_for =
      window->info.scope == WindowScope::queue_pair ? std::optional(handle_) : std::nullopt;
  tag->region = request.region;
  tag->valid = true;
  window->region = request.region;
  window->info.bound = true;
  ++region->windows;
  return true;
}

template <typename Policy>
std::expected<void, stream::MemoryFault> QueuePair<Policy>::invalidate_by_peer(std::uint32_t stag) {
  const auto permitted =
      core_.tags.may_invalidate(requester(), stag, core_.is_shared(attributes_.domain));
  if (!permitted) return std::unexpected(permitted.error());
  Tag& tag = **permitted;
  if (core_.has_windows(tag)) return std::unexpected(stream::MemoryFault::cannot_invalidate);
  core_.invalidate(tag);
  return {};
}

// ---- receives ----

template <typename Policy>
std::optional<ReceiveRequest> QueuePair<Policy>::next_receive() {
  SharedQueue* shared = core_.shared_queues.find(attributes_.shared_queue);
  auto& waiting = shared != nullptr ? shared->waiting : receives_;
  if (waiting.empty()) return std::nullopt;
  ReceiveRequest request = std::move(waiting.front());
  waiting.pop_front();
  if (shared != nullptr && shared->limit_passed())
    core_.raise({.kind = AsyncKind::shared_queue_limit,
                 .shared_queue = shared->handle,
                 .detail = "fewer receives wait than the limit"});
  return request;
}

template <typename Policy>
std::optional<stream::ReceiveBuffer> QueuePair<Policy>::take_receive() {
  auto request = next_receive();
  if (!request) return std::nullopt;
  stream::ReceiveBuffer buffer;
  for (const Piece& piece : request->pieces) {
    if (piece.length == 0) continue;
    const auto octets =
        core_.tags.resolve(requester(), piece.stag, piece.offset, piece.length, Need::local_write);
    if (!octets) {
      complete_receive(*request, {.status = Status::local_protection});
      return std::nullopt;
    }
    buffer.pieces.push_back(*octets);
    buffer.capacity += piece.length;
  }
  buffer.work_id = next_id_++;
  Taken& taken = taken_.emplace_back(std::move(*request), buffer.work_id, false);
  if (core_.deviates(stream::Deviation::receive_completes_before_placement)) {
    taken.completed_early = true;
    complete_receive(taken.request, {.length = static_cast<std::uint32_t>(buffer.capacity)});
  }
  return buffer;
}

template <typename Policy>
auto QueuePair<Policy>::give_back(std::uint64_t id) -> const Taken* {
  const auto found = std::ranges::find(taken_, id, &Taken::id);
  if (found != taken_.end()) {
    given_back_ = std::move(*found);
    taken_.erase(found);
  }
  return given_back_.id == id ? &given_back_
                              : nullptr;  // the same again only if a deviation delivers twice
}

template <typename Policy>
void QueuePair<Policy>::message_received(const stream::MessageReceived& news) {
  using stream::Deviation;
  const Taken* taken = give_back(news.work_id);
  if (taken == nullptr || taken->completed_early) return;
  Completion completion{.status = Status::success,
                        .length = static_cast<std::uint32_t>(news.length),
                        .invalidated = news.invalidated,
                        .immediate = news.immediate,
                        .solicited = is_solicited(news.opcode)};
  if (core_.deviates(Deviation::receive_length_wrong))
    completion.length = static_cast<std::uint32_t>(total_length(taken->request.pieces));
  if (completion.immediate && core_.deviates(Deviation::immediate_data_withheld))
    completion.immediate.reset();
  if (core_.deviates(Deviation::solicited_event_lost)) completion.solicited = false;
  if (news.immediate && core_.deviates(Deviation::immediate_without_completion)) return;
  if (core_.deviates(Deviation::receives_complete_out_of_order) && !held_back_) {
    completion.id = taken->request.id;
    held_back_ = completion;
    return;
  }
  complete_receive(taken->request, completion);
  if (!held_back_) return;
  const Completion earlier = *held_back_;
  complete_receive({.id = earlier.id, .pieces = {}}, earlier);
  held_back_.reset();
}

template <typename Policy>
void QueuePair<Policy>::receive_failed(const stream::ReceiveFailed& news) {
  const Taken* taken = give_back(news.work_id);
  if (taken == nullptr || taken->completed_early) return;
  complete_receive(taken->request,
                   {.status = news.too_long ? Status::local_length : Status::flushed});
}

template <typename Policy>
void QueuePair<Policy>::complete_receive(const ReceiveRequest& request, Completion completion) {
  if (completion.status == Status::flushed && core_.deviates(stream::Deviation::receive_flush_lost))
    return;
  completion.id = request.id;
  completion.queue_pair = handle_;
  completion.operation = Operation::receive;
  core_.complete(attributes_.receive_completions, completion);
}

template <typename Policy>
void QueuePair<Policy>::flush_receives() {
  while (!taken_.empty()) {
    const Taken taken = std::move(taken_.front());
    taken_.pop_front();
    if (!taken.completed_early) complete_receive(taken.request, {.status = Status::flushed});
  }
  while (!receives_.empty()) {
    const ReceiveRequest request = std::move(receives_.front());
    receives_.pop_front();
    complete_receive(request, {.status = Status::flushed});
  }
}

// ---- the end ----

template <typename Policy>
std::expected<void, Error> QueuePair<Policy>::close() {
  if (state_ == QueuePairState::closing) return {};
  if (link_ == nullptr || state_ != QueuePairState::rts)
    return std::unexpected(Error::invalid_state);
  link_->close_from_pair();
  return {};
}

template <typename Policy>
void QueuePair<Policy>::abort() {
  if (link_ != nullptr) return link_->abort_from_pair();
  move(StateInput::error_asked);
  flush_sends(0);
  flush_receives();
}

template <typename Policy>
std::expected<void, Error> QueuePair<Policy>::reset() {
  const auto next = next_state(state_, StateInput::reset_asked);
  if (link_ != nullptr || !next) return std::unexpected(Error::invalid_state);
  state_ = *next;
  receives_.clear();
  broken_ = false;
  return {};
}

template <typename Policy>
void QueuePair<Policy>::flush_after_fault() {
  if (state_ == QueuePairState::terminate) flush_receives();
}

template <typename Policy>
void QueuePair<Policy>::terminate_received(wire::TerminateCause cause) {
  move(StateInput::fault);
  if (core_.deviates(stream::Deviation::terminate_not_reported)) return;
  raise(AsyncKind::terminate_received, cause, "Terminate received: " + wire::describe(cause));
}

template <typename Policy>
void QueuePair<Policy>::stream_failed(wire::TerminateCause cause, const std::string& detail) {
  move(StateInput::fault);
  if (core_.deviates(stream::Deviation::stream_fault_not_reported)) return;
  if (is_read_refusal(cause) && core_.deviates(stream::Deviation::read_refusal_not_reported))
    return;
  raise(fault_kind(cause), cause, detail.empty() ? wire::describe(cause) : detail);
}

template <typename Policy>
void QueuePair<Policy>::stream_lost() {
  const bool unexpected = state_ == QueuePairState::rts || state_ == QueuePairState::closing;
  move(StateInput::fault);
  if (unexpected && !core_.deviates(stream::Deviation::llp_loss_not_reported))
    raise(AsyncKind::queue_pair_fatal, std::nullopt, "the LLP connection is lost");
}

template <typename Policy>
void QueuePair<Policy>::stream_ended(bool closed) {
  if (link_ == nullptr) return;
  link_ = nullptr;
  if (Domain* domain = core_.domains.find(attributes_.domain)) --domain->streams;
  move(StateInput::stream_ended);
  flush_sends(closed ? issued_ : 0);
  flush_receives();
  if (attributes_.shared_queue)
    raise(AsyncKind::last_buffer, std::nullopt, "no buffer of the shared queue is held any more");
}

template <typename Policy>
void QueuePair<Policy>::raise(AsyncKind kind, std::optional<wire::TerminateCause> cause,
                              const std::string& detail) {
  core_.raise({.kind = kind, .queue_pair = handle_, .cause = cause, .detail = detail});
}

template <typename Policy>
QueuePairInfo QueuePair<Policy>::info() const {
  return {.attributes = attributes_,
          .state = state_,
          .connected = link_ != nullptr,
          .sends_outstanding = static_cast<std::uint32_t>(sends_.size()),
          .receives_outstanding = static_cast<std::uint32_t>(receives_.size() + taken_.size())};
}

}  // namespace rnic::verbs
