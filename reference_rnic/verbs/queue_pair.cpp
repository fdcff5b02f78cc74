// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A queue pair's life: its stream attached, news of the stream's fate, and the end.
#include "reference_rnic/verbs/queue_pair.hpp"
#include "reference_rnic/verbs/work_rules.hpp"

namespace rnic::verbs {

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
  if (cause.layer == wire::layer::mpa && core_.deviates(stream::Deviation::llp_fault_not_reported))
    return;
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
  if (closed && state_ != QueuePairState::terminate &&
      core_.deviates(stream::Deviation::graceful_close_raises_error))
    raise(AsyncKind::queue_pair_fatal, std::nullopt, "the stream has been closed");
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

template class QueuePair<stream::Conforming>;
template class QueuePair<stream::Deviating>;

}  // namespace rnic::verbs
