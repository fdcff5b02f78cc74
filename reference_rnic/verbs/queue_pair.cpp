// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A queue pair's life: its stream attached, news of the stream's fate, and the end.
#include "reference_rnic/verbs/queue_pair.hpp"
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
  if (core_.deviates(stream::Deviation::terminate_not_reported)) return;
  raise(AsyncKind::terminate_received, cause, "Terminate received: " + wire::describe(cause));
}

void QueuePair::stream_failed(wire::TerminateCause cause, const std::string& detail) {
  move(StateInput::fault);
  if (core_.deviates(stream::Deviation::stream_fault_not_reported)) return;
  if (cause.layer == wire::layer::mpa && core_.deviates(stream::Deviation::llp_fault_not_reported))
    return;
  if (is_read_refusal(cause) && core_.deviates(stream::Deviation::read_refusal_not_reported))
    return;
  raise(fault_kind(cause), cause, detail.empty() ? wire::describe(cause) : detail);
}

void QueuePair::stream_lost() {
  const bool unexpected = state_ == QueuePairState::rts || state_ == QueuePairState::closing;
  move(StateInput::fault);
  if (unexpected && !core_.deviates(stream::Deviation::llp_loss_not_reported))
    raise(AsyncKind::queue_pair_fatal, std::nullopt, "the LLP connection is lost");
}

void QueuePair::stream_ended(bool closed) {
  if (link_ == nullptr) return;
  link_ = nullptr;
  if (Domain* domain = core_.domains.find(attributes_.domain)) --domain->streams;
  if (closed && state_ != QueuePairState::terminate &&
      core_.deviates(stream::Deviation::graceful_close_raises_error))
    raise(AsyncKind::queue_pair_fatal, std::nullopt, "the stream has been closed");
  move(StateInput::stream_ended);
  flush_sends(closed ? issued_ : 0);
  flush_receives();
  if (attributes_.shared_queue)
    raise(AsyncKind::last_buffer, std::nullopt, "no buffer of the shared queue is held any more");
}

void QueuePair::raise(AsyncKind kind, std::optional<wire::TerminateCause> cause,
                      const std::string& detail) {
  core_.raise({.kind = kind, .queue_pair = handle_, .cause = cause, .detail = detail});
}

QueuePairInfo QueuePair::info() const {
  return {.attributes = attributes_,
          .state = state_,
          .connected = link_ != nullptr,
          .sends_outstanding = static_cast<std::uint32_t>(sends_.size()),
          .receives_outstanding = static_cast<std::uint32_t>(receives_.size() + taken_.size())};
}

}  // namespace rnic::verbs
