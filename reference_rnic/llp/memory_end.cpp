// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Everything that passes between two ends is delivered by a timer, after the link's latency.
#include "reference_rnic/llp/memory_end.hpp"

#include <cassert>
#include <cstring>
#include <utility>

namespace rnic::llp {

namespace {

using Kind = MemoryFabric::Passed::Kind;

/// An observer that leaves octets unread is called again after this time, as with a level-triggered
/// poll.
constexpr base::Duration ask_again = std::chrono::microseconds(1);
/// A lost segment and all that follow it arrive this much later: the least time in which TCP
/// repeats one.
constexpr base::Duration time_to_repeat = std::chrono::milliseconds(200);

}  // namespace

// ---- opening: SYN, SYN-ACK, ACK, each a latency long ----

void MemoryEnd::start_connecting() {
  fabric_->tap(local_, remote_, Kind::syn);
  fabric_->after_latency([self = shared_from_this()] {
    if (self->state_ != State::connecting) return;
    MemoryFabric::State& fabric = *self->fabric_;
    if (!fabric.hosts_.contains(self->remote_.with_port(0)))
      return self->end_later(Ending::unreachable);
    if (!fabric.listeners_.contains(self->remote_)) {
      fabric.tap(self->remote_, self->local_, Kind::refused);
      return self->fabric_->after_latency([self] { self->end_later(Ending::refused); });
    }
    self->limit_emss(fabric.listeners_.at(self->remote_)->segment_limit());
    fabric.tap(self->remote_, self->local_, Kind::syn_ack);
    fabric.after_latency([self] { self->reply_arrives(); });
  });
}

void MemoryEnd::reply_arrives() {
  if (state_ != State::connecting) return;
  const auto peer = std::make_shared<MemoryEnd>(fabric_, remote_, local_, State::open);
  join(peer);
  peer->join(shared_from_this());
  peer->limit_emss(emss_);
  fabric_->after_latency([self = shared_from_this(), peer] {
    const auto listener = self->fabric_->listeners_.find(self->remote_);
    if (listener == self->fabric_->listeners_.end()) return peer->reset();
    listener->second->accept(peer);
  });
  become_connected();
}

void MemoryEnd::become_connected() {
  state_ = State::open;
  if (observer_ != nullptr) caller_([this] { observer_->connected(); });
}

// ---- data ----

std::size_t MemoryEnd::send(std::span<const wire::Bytes> pieces) {
  assert(!send_shut_ && "send() after shutdown_send()");
  if (state_ != State::open || reset_arrived_) return 0;
  std::size_t offered = 0;
  for (const wire::Bytes& piece : pieces) offered += piece.size();
  const std::size_t taken = std::min(offered, window_ - std::min(window_, outstanding_));
  const std::size_t repeated = std::min(taken, injected_);
  injected_ -= repeated;
  std::size_t offset = repeated;
  while (offset != 0 && offset >= pieces.front().size()) {
    offset -= pieces.front().size();
    pieces = pieces.subspan(1);
  }
  for (std::size_t left = taken - repeated; left > 0;) {
    const std::size_t size = std::min(left, emss_);
    send_segment(pieces, offset, size);
    left -= size;
  }
  wants_writable_ = taken < offered;
  return taken;
}

bool MemoryEnd::send_lost(wire::Bytes octets) {
  held_up_until_ = fabric_->loop_.now() + fabric_->options_.latency + time_to_repeat;
  return send({&octets, 1}) == octets.size();
}

bool MemoryEnd::inject(std::int64_t offset, wire::Bytes octets, Ecn ecn) {
  if (!is_open()) return false;
  if (offset != 0 || injected_ != 0) return true;
  std::span<const wire::Bytes> pieces(&octets, 1);
  std::size_t done = 0;
  send_segment(pieces, done, octets.size(), ecn);
  injected_ = octets.size();
  return true;
}

/// Sends the next `size` octets of `pieces`; the first `offset` octets of the front piece have been
/// sent.
void MemoryEnd::send_segment(std::span<const wire::Bytes>& pieces, std::size_t& offset,
                             std::size_t size, Ecn ecn) {
  std::vector<std::byte> segment;
  segment.reserve(size);
  while (segment.size() < size) {
    const wire::Bytes rest = pieces.front().subspan(offset);
    const wire::Bytes part = rest.first(std::min(rest.size(), size - segment.size()));
    segment.insert(segment.end(), part.begin(), part.end());
    offset += part.size();
    if (offset < pieces.front().size()) continue;
    pieces = pieces.subspan(1);
    offset = 0;
  }
  ++segments_sent_;
  outstanding_ += size;
  unacknowledged_ += size;
  fabric_->tap(local_, remote_, Kind::data, segment);
  arrive_in_turn([self = shared_from_this(), segment = std::move(segment), ecn]() mutable {
    self->unacknowledged_ -= segment.size();
    const auto peer = self->peer_.lock();
    if (peer && peer->state_ == State::open) return peer->data_arrives(std::move(segment), ecn);
    self->fabric_->after_latency([self] { self->reset_arrives(); });  // there is no receiver
  });
}

/// The same for octets and the FIN, which a peer may leave unacknowledged.
void MemoryEnd::arrive_in_turn(std::function<void()> arrive) {
  in_turn([peer = peer_, arrive = std::move(arrive)]() mutable {
    if (const auto end = peer.lock(); end && end->refusing_)
      end->refused_.push_back(std::move(arrive));
    else
      arrive();
  });
}

void MemoryEnd::leave_unacknowledged(bool on) {
  if (refusing_ == on) return;
  refusing_ = paused_ = on;
  if (const auto peer = peer_.lock()) {
    if (on)
      peer->unacknowledged_ += last_segment_;
    else
      peer->unacknowledged_ -= last_segment_;
  }
  if (on) return;
  for (auto& arrive : std::exchange(refused_, {})) arrive();
  notify_readable({});
}

/// Runs what arrives at the peer after everything that was sent before.
void MemoryEnd::in_turn(std::function<void()> arrive) {
  const base::TimePoint soonest = fabric_->loop_.now() + fabric_->options_.latency;
  // One at a time, so that a cut shows; what a lost segment held up arrives all at once.
  if (soonest > last_arrival_)
    last_arrival_ = std::max(soonest, held_up_until_);
  else if (last_arrival_ != held_up_until_)
    last_arrival_ += std::chrono::nanoseconds(1);
  fabric_->loop_.schedule(last_arrival_, std::move(arrive));
}

void MemoryEnd::data_arrives(std::vector<std::byte> segment, Ecn ecn) {
  ecn_marked_ = ecn_marked_ || ecn != Ecn::not_capable;
  ++segments_received_;
  last_segment_ = segment.size();
  inbox_.push_back(std::move(segment));
  notify_readable({});
}

Connection::Received MemoryEnd::receive(std::span<const wire::MutableBytes> targets) {
  std::size_t count = 0;
  for (wire::MutableBytes target : targets) {
    while (!target.empty() && !inbox_.empty()) {
      const wire::Bytes rest = wire::Bytes(inbox_.front()).subspan(front_used_);
      const std::size_t size = std::min(rest.size(), target.size());
      std::memcpy(target.data(), rest.data(), size);
      target = target.subspan(size);
      count += size;
      front_used_ += size;
      if (front_used_ < inbox_.front().size()) continue;
      inbox_.pop_front();
      front_used_ = 0;
    }
  }
  if (count > 0) release(count);
  if (inbox_.empty() && reset_arrived_ && state_ == State::open) end_later(Ending::reset);
  if (inbox_.empty() && fin_arrived_) fin_reported_ = true;
  return {count, fin_reported_, std::exchange(ecn_marked_, false)};
}

/// Notifies the peer that its window has room again.
void MemoryEnd::release(std::size_t octets) {
  fabric_->after_latency([peer = peer_, octets] {
    if (const auto end = peer.lock()) end->room_arrives(octets);
  });
}

void MemoryEnd::room_arrives(std::size_t octets) {
  outstanding_ -= octets;
  if (!wants_writable_ || outstanding_ >= window_ || state_ != State::open) return;
  wants_writable_ = false;
  if (observer_ != nullptr) caller_([this] { observer_->writable(); });
}

void MemoryEnd::notify_readable(base::Duration delay) {
  if (readable_pending_) return;
  readable_pending_ = true;
  fabric_->loop_.schedule(fabric_->loop_.now() + delay,
                          [self = shared_from_this()] { self->on_readable_timer(); });
}

void MemoryEnd::on_readable_timer() {
  readable_pending_ = false;
  if (observer_ == nullptr || state_ != State::open) return;
  if (reset_arrived_ && (paused_ || inbox_.empty())) return end_later(Ending::reset);
  if (paused_ || (inbox_.empty() && (!fin_arrived_ || fin_reported_))) return;
  caller_([this] { observer_->readable(); });
  notify_readable(ask_again);
}

// ---- endings ----

void MemoryEnd::shutdown_send() {
  if (state_ != State::open || send_shut_) return;
  send_shut_ = true;
  fabric_->tap(local_, remote_, Kind::fin);
  arrive_in_turn([peer = peer_] {
    if (const auto end = peer.lock()) end->fin_arrives();
  });
}

void MemoryEnd::fin_arrives() {
  fin_arrived_ = true;
  notify_readable({});
}

void MemoryEnd::reset() {
  const bool was_open = state_ == State::open && !reset_arrived_;
  state_ = State::ended;
  if (!was_open) return;
  fabric_->tap(local_, remote_, Kind::reset);
  in_turn([peer = peer_] {
    if (const auto end = peer.lock()) end->reset_arrives();
  });
}

void MemoryEnd::reset_arrives() {
  // Both directions are closed by FIN: there is nothing for a reset to end.
  if (fin_reported_ && send_shut_) return;
  reset_arrived_ = true;
  notify_readable({});
}

void MemoryEnd::end_later(Ending ending) {
  if (state_ == State::ended) return;
  state_ = State::ended;
  fabric_->loop_.defer([self = shared_from_this(), ending] {
    if (self->observer_ != nullptr) self->caller_([&] { self->observer_->ended(ending); });
  });
}

/// The owner is gone: close gracefully. Octets that still arrive are answered with a reset.
void MemoryEnd::abandon() {
  observer_ = nullptr;
  if (!reset_arrived_) shutdown_send();
  state_ = State::ended;
  std::size_t unread = 0;
  for (const auto& segment : inbox_) unread += segment.size();
  inbox_.clear();
  if (unread > front_used_) release(unread - front_used_);
}

}  // namespace rnic::llp
