// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the events of its stream mean for a connection, and what is reported to its consumer.
#include <utility>

#include "reference_rnic/access/connection_manager.hpp"

namespace rnic::access {

namespace {

ConnectFailure failure_of(stream::StartupFault fault) {
  switch (fault) {
    case stream::StartupFault::timeout:
      return ConnectFailure::timeout;
    case stream::StartupFault::peer_closed:
    case stream::StartupFault::lost:
      return ConnectFailure::lost;
    case stream::StartupFault::invalid_frame:
    case stream::StartupFault::insufficient_ird:
    case stream::StartupFault::no_matching_rtr:
      break;
  }
  return ConnectFailure::protocol;
}

ConnectFailure failure_of(llp::Ending ending) {
  switch (ending) {
    case llp::Ending::refused:
      return ConnectFailure::refused;
    case llp::Ending::timed_out:
      return ConnectFailure::timeout;
    case llp::Ending::reset:
      return ConnectFailure::lost;
    case llp::Ending::unreachable:
    case llp::Ending::failed:
      break;
  }
  return ConnectFailure::unreachable;
}

std::vector<std::byte> startup_frame_of(const stream::ConnectRequest& request) {
  std::vector<std::byte> octets(wire::mpa_frame_header_size + wire::mpa_max_private_data);
  wire::Writer writer(octets);
  wire::format_mpa_frame(writer, wire::MpaFrameKind::request, request.flags, request.revision,
                         request.enhanced, request.private_data);
  octets.resize(writer.size());
  return octets;
}

}  // namespace

// ---- the stream's events ----

void ConnectionManager::link_connected(Link& link) {
  Entry* entry = find(link);
  if (entry == nullptr || decisions_.empty()) return;
  // There is nothing to report before the Reply (RFC 5044 section 7.1.2).
  std::vector<ConnectionEvent> events;
  decisions_.ask(&Decisions::llp_connected, about(*entry), events);
  for (ConnectionEvent& event : events) emit(std::move(event));
}

void ConnectionManager::link_event(Link& link, stream::Event& event) {
  Entry* entry = find(link);
  if (entry == nullptr) return;
  decisions_.ask(&Decisions::stream_reported, about(*entry), event);
  std::visit([&](auto& one) { handle(*entry, one); }, event);
}

void ConnectionManager::handle(Entry& entry, stream::ConnectRequest& event) {
  entry.phase = Phase::requested;
  entry.asked = event.enhanced;
  entry.startup_frame = startup_frame_of(event);
  const llp::Connection& connection = *entry.link->connection();
  ConnectionRequest request{.connection = entry.id,
                            .listener = *entry.listener,
                            .local = connection.local(),
                            .remote = connection.remote(),
                            .revision = event.revision};
  // mpa.enhanced.responder-tells-ulp-peer-values
  if (event.enhanced)
    request.depths = PeerDepths{.ird = event.enhanced->ord, .ord = event.enhanced->ird};
  request.peer_to_peer = event.enhanced && event.enhanced->peer_to_peer;
  request.private_data = std::move(event.private_data);
  report(entry, std::move(request));
}

void ConnectionManager::handle(Entry& entry, stream::Established& event) {
  entry.phase = Phase::established;
  established(entry, event.negotiated, std::move(event.private_data));
}

void ConnectionManager::established(Entry& entry, const stream::Negotiated& negotiated,
                                    std::vector<std::byte> private_data) {
  ConnectionEstablished outcome{
      .connection = entry.id, .queue_pair = entry.queue_pair, .negotiated = negotiated};
  if (negotiated.enhanced)
    outcome.depths = PeerDepths{.ird = negotiated.peer_ord, .ord = negotiated.peer_ird};
  if (!entry.listener) outcome.private_data = std::move(private_data);
  report(entry, std::move(outcome));
}

void ConnectionManager::handle(Entry& entry, stream::Rejected& event) {
  entry.phase = Phase::over;
  ConnectionRejected outcome{.connection = entry.id, .queue_pair = entry.queue_pair};
  if (event.enhanced)  // mpa.enhanced.reject-values-to-ulp
    outcome.depths = PeerDepths{.ird = event.enhanced->ord, .ord = event.enhanced->ird};
  outcome.private_data = std::move(event.private_data);
  report(entry, std::move(outcome));
}

void ConnectionManager::handle(Entry& entry, stream::StartupFailed& event) {
  bool others_end = false;  // mpa.startup.bad-request-closes-tcp: that connection only
  decisions_.ask(&Decisions::startup_failed, event, others_end);
  if (others_end && entry.listener)
    defer([this, listener = *entry.listener] { drop_undecided(listener, Requests::drop); });
  fail(entry, failure_of(event.fault));
}

void ConnectionManager::handle(Entry& entry, stream::TerminateReceived&) { entry.faulty = true; }
void ConnectionManager::handle(Entry& entry, stream::Failed&) { entry.faulty = true; }
void ConnectionManager::handle(Entry& entry, stream::Lost&) { entry.faulty = true; }

/// The peer has closed its half: posted work is still sent, then we close ours (RFC 5041 section
/// 6.1).
void ConnectionManager::handle(Entry& entry, stream::PeerClosed&) {
  if (entry.phase == Phase::established) entry.link->stream().disconnect();
}

void ConnectionManager::handle(Entry& entry, stream::Closed&) { over(entry); }

void ConnectionManager::link_unreachable(Link& link, llp::Ending ending) {
  Entry* entry = find(link);
  if (entry != nullptr && entry->phase == Phase::starting) fail(*entry, failure_of(ending));
}

void ConnectionManager::link_finished(Link& link) {
  Entry* entry = find(link);
  if (entry == nullptr) return;
  over(*entry);
  defer([this, id = entry->id] { remove(id); });
}

void ConnectionManager::over(Entry& entry) {
  const Phase before = std::exchange(entry.phase, Phase::over);
  if (before == Phase::over) return;
  if (before == Phase::established)
    return report(entry, ConnectionEnded{.connection = entry.id,
                                         .queue_pair = entry.queue_pair,
                                         .orderly = !entry.faulty});
  entry.phase = before;
  fail(entry, ConnectFailure::lost);
}

/// Only a consumer that knows of the attempt gets an event: the initiator's, and that of a responder
/// that has accepted.
void ConnectionManager::fail(Entry& entry, ConnectFailure failure) {
  const Phase before = std::exchange(entry.phase, Phase::over);
  const bool known = before == Phase::replied || (before == Phase::starting && !entry.listener);
  if (!known) return;
  report(entry, ConnectionFailed{
                    .connection = entry.id, .queue_pair = entry.queue_pair, .failure = failure});
}

// ---- events ----

auto ConnectionManager::about(const Entry& entry) -> About {
  return {.connection = entry.id,
          .queue_pair = entry.queue_pair,
          .initiator = !entry.listener.has_value()};
}

void ConnectionManager::report(const Entry& entry, ConnectionEvent event) {
  if (decisions_.empty()) return emit(std::move(event));
  std::vector<ConnectionEvent> events{std::move(event)};
  decisions_.ask(&Decisions::reported, about(entry), events);
  for (ConnectionEvent& each : events) emit(std::move(each));
}

void ConnectionManager::emit(ConnectionEvent event) {
  events_.push_back(std::move(event));
  if (std::exchange(delivery_due_, true)) return;
  defer([this] { deliver(); });
}

void ConnectionManager::deliver() {
  delivery_due_ = false;
  const std::weak_ptr<char> alive = alive_;
  while (!alive.expired() && !events_.empty()) {
    const ConnectionEvent event = std::move(events_.front());
    events_.pop_front();
    sink_(event);
  }
}

void ConnectionManager::defer(std::function<void()> callback) {
  loop_.defer([alive = std::weak_ptr<char>(alive_), callback = std::move(callback)] {
    if (!alive.expired()) callback();
  });
}

}  // namespace rnic::access
