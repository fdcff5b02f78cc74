// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A queue pair's life: a stream is attached, events of the stream are processed, and it ends.
#include "reference_rnic/verbs/queue_pair.hpp"

#include <utility>

#include "reference_rnic/verbs/work_rules.hpp"

namespace rnic::verbs {

QueuePair::~QueuePair() {
  if (link_ == nullptr) return;
  if (Domain* domain = core_.domains.find(attributes_.domain)) --domain->streams;
  link_->abandon();
}

void QueuePair::move(StateInput input) {
  if (const auto next = next_state(state_, input)) state_ = *next;
}

bool QueuePair::attach(StreamLink& link) {
  if (link_ != nullptr || state_ != QueuePairState::idle) return false;
  link_ = &link;
  if (Domain* domain = core_.domains.find(attributes_.domain)) ++domain->streams;
  return true;
}

// ---- the end ----

std::expected<void, Error> QueuePair::close() {
  if (state_ == QueuePairState::closing) return {};
  if (link_ == nullptr || state_ != QueuePairState::rts)
    return std::unexpected(Error::invalid_state);
  link_->close_from_pair();
  return {};
}

void QueuePair::abort() {
  if (link_ != nullptr) return link_->abort_from_pair();
  move(StateInput::error_asked);
  flush_receives();
}

std::expected<void, Error> QueuePair::reset() {
  const auto next = next_state(state_, StateInput::reset_asked);
  if (link_ != nullptr || !next) return std::unexpected(Error::invalid_state);
  state_ = *next;
  receives_.clear();
  broken_ = false;
  return {};
}

void QueuePair::flush_after_fault() {
  if (state_ == QueuePairState::terminate) flush_receives();
}

void QueuePair::terminate_received(wire::TerminateCause cause) {
  move(StateInput::fault);
  raise(StreamChange::terminate_received,
        AsyncEvent{.kind = AsyncKind::terminate_received,
                   .queue_pair = handle_,
                   .cause = cause,
                   .detail = "Terminate received: " + wire::describe(cause)});
}

void QueuePair::stream_failed(wire::TerminateCause cause, const std::string& detail) {
  move(StateInput::fault);
  raise(StreamChange::fault_found,
        AsyncEvent{.kind = fault_kind(cause),
                   .queue_pair = handle_,
                   .cause = cause,
                   .detail = detail.empty() ? wire::describe(cause) : detail});
}

void QueuePair::stream_lost() {
  const bool unexpected = state_ == QueuePairState::rts || state_ == QueuePairState::closing;
  move(StateInput::fault);
  if (!unexpected) return;
  // ddp.close.llp-lost-indicated
  raise(StreamChange::llp_lost, AsyncEvent{.kind = AsyncKind::queue_pair_fatal,
                                           .queue_pair = handle_,
                                           .detail = "the LLP connection is lost"});
}

void QueuePair::stream_ended(bool closed) {
  if (link_ == nullptr) return;
  link_ = nullptr;
  if (Domain* domain = core_.domains.find(attributes_.domain)) --domain->streams;
  // A graceful end is no event of the queue pair (ddp.llp.stream-graceful-indication).
  if (closed && state_ != QueuePairState::terminate) raise(StreamChange::closed, std::nullopt);
  move(StateInput::stream_ended);
  flush_sends(closed ? issued_ : 0);
  flush_receives();
  if (attributes_.shared_queue)
    core_.raise({.kind = AsyncKind::last_buffer,
                 .queue_pair = handle_,
                 .detail = "no buffer of the shared queue is held any more"});
}

void QueuePair::raise(StreamChange change, std::optional<AsyncEvent> event) {
  core_.decisions.ask(&Decisions::event_raised, handle_, change, event);
  if (event) core_.raise(std::move(*event));
}

QueuePairInfo QueuePair::info() const {
  QueuePairInfo info{
      .attributes = attributes_,
      .state = state_,
      .connected = link_ != nullptr,
      .sends_outstanding = static_cast<std::uint32_t>(sends_.size()),
      .receives_outstanding = static_cast<std::uint32_t>(receives_.size() + taken_.size())};
  core_.decisions.ask(&Decisions::pair_queried, info);
  return info;
}

}  // namespace rnic::verbs
