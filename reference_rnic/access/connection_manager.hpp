// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Connections of queue pairs: listen, connect, accept, reject, disconnect, and their events.
//
// One manager serves one RNIC on one host. Its sink is called only from the event loop, never from
// inside a call, so a consumer may do anything in it. Peers that are slow in startup do not delay
// others.
#pragma once

#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reference_rnic/access/connection_event.hpp"
#include "reference_rnic/access/decisions.hpp"
#include "reference_rnic/access/link.hpp"
#include "reference_rnic/access/startup_options.hpp"

namespace rnic::access {

/// The parameters of connect() and accept(). Absent depths: as much as the RNIC has and the peer
/// can use.
struct ConnectParameters {
  std::optional<std::uint16_t> ird{}, ord{};
  std::vector<std::byte> private_data{};
};

class ConnectionManager final : private Link::Owner {
 public:
  using Sink = std::function<void(const ConnectionEvent&)>;
  struct Limits {
    std::size_t startups_per_listener =
        256;  ///< accepted LLP connections without a decision; more are reset
  };

  ConnectionManager(base::EventLoop& loop, llp::Network& network, verbs::Rnic& rnic, Sink sink,
                    ConnectionDecisions decisions = {});
  ~ConnectionManager() override;
  ConnectionManager(const ConnectionManager&) = delete;
  ConnectionManager& operator=(const ConnectionManager&) = delete;

  struct Listening {
    ListenerId listener{};
    base::Address local{};
  };
  [[nodiscard]] std::expected<Listening, Failure> listen(const base::Address& local,
                                                         const StartupOptions& options);
  /// Waits for a startup request on an existing LLP connection. Only this connection knows the
  /// listener.
  [[nodiscard]] std::expected<ListenerId, Failure> serve(
      std::unique_ptr<llp::Connection> connection, const StartupOptions& options);

  /// What happens with requests that wait for a decision.
  enum class Requests : std::uint8_t { drop, keep };
  /// Startups that are not yet a request are dropped; connections stay.
  std::expected<void, Failure> stop_listening(ListenerId listener,
                                              Requests requests = Requests::drop);

  /// The queue pair must be idle. One of established, rejected, failed follows.
  [[nodiscard]] std::expected<ConnectionId, Failure> connect(verbs::QueuePairHandle queue_pair,
                                                             const base::Address& remote,
                                                             const StartupOptions& options,
                                                             const ConnectParameters& parameters);
  /// The same over an existing LLP connection.
  [[nodiscard]] std::expected<ConnectionId, Failure> connect_over(
      std::unique_ptr<llp::Connection> connection, verbs::QueuePairHandle queue_pair,
      const StartupOptions& options, const ConnectParameters& parameters);
  /// One of established, failed follows.
  std::expected<void, Failure> accept(ConnectionId connection, verbs::QueuePairHandle queue_pair,
                                      const ConnectParameters& parameters);
  std::expected<void, Failure> reject(ConnectionId connection, wire::Bytes private_data);
  /// Resets a request without a decision: to the peer it looks as if there were no listener.
  std::expected<void, Failure> refuse(ConnectionId connection);
  /// A request that may be decided elsewhere: its LLP connection, and the octets of the startup
  /// frame that have been read from it.
  struct Undecided {
    const llp::Connection* connection = nullptr;
    std::vector<std::byte> startup_frame{};
  };
  [[nodiscard]] std::optional<Undecided> undecided(ConnectionId connection) const;
  /// Forgets such a request without notifying the peer; null if there is none.
  [[nodiscard]] std::unique_ptr<llp::Connection> release(ConnectionId connection);
  /// Orderly (posted work is executed first) or abortive (with a Terminate where one may be sent).
  std::expected<void, Failure> disconnect(verbs::QueuePairHandle queue_pair, bool abortive);
  /// Resets the connection of a queue pair, if it has one, without further events.
  void drop(verbs::QueuePairHandle queue_pair);
  /// Ends the connection of a queue pair that is about to be destroyed, if it has one, without
  /// further events: what has been sent still reaches the peer.
  void leave(verbs::QueuePairHandle queue_pair);
  /// Resets and forgets everything, undelivered events too.
  void reset();

  struct Addresses {
    base::Address local{}, remote{};
  };
  /// Of the queue pair's LLP connection, or nothing while it has none.
  [[nodiscard]] std::optional<Addresses> addresses(verbs::QueuePairHandle queue_pair) const;
  [[nodiscard]] bool is_connecting(verbs::QueuePairHandle queue_pair) const;
  [[nodiscard]] std::size_t connections() const { return entries_.size(); }

 private:
  enum class Phase : std::uint8_t { starting, requested, replied, established, over };
  struct ListenerEntry;
  struct Entry {
    ConnectionId id{};
    std::unique_ptr<Link> link;
    Phase phase = Phase::starting;
    std::optional<ListenerId> listener;  ///< we are the responder
    verbs::QueuePairHandle queue_pair{};
    bool faulty = false;
    std::optional<wire::EnhancedWords::Values> asked;  ///< responder: of the request
    std::vector<std::byte> startup_frame;              ///< likewise, as received
  };

  void link_connected(Link& link) override;
  void link_event(Link& link, stream::Event& event) override;
  void link_unreachable(Link& link, llp::Ending ending) override;
  void link_finished(Link& link) override;

  void accepted(ListenerId listener, std::unique_ptr<llp::Connection> connection);
  void handle(Entry& entry, stream::ConnectRequest& event);
  void handle(Entry& entry, stream::Established& event);
  void handle(Entry& entry, stream::Rejected& event);
  void handle(Entry& entry, stream::StartupFailed& event);
  void handle(Entry& entry, stream::TerminateReceived& event);
  void handle(Entry& entry, stream::Failed& event);
  void handle(Entry& entry, stream::PeerClosed& event);
  void handle(Entry& entry, stream::Lost& event);
  void handle(Entry& entry, stream::Closed& event);
  template <typename Other>
  void handle(Entry&, Other&) {}
  void established(Entry& entry, const stream::Negotiated& negotiated,
                   std::vector<std::byte> private_data);
  void over(Entry& entry);
  /// Resets the connections of the listener on which its consumer has not decided.
  void drop_undecided(ListenerId listener, Requests requests);
  [[nodiscard]] std::size_t undecided_of(ListenerId listener);
  [[nodiscard]] std::size_t startups_allowed() const;
  void fail(Entry& entry, ConnectFailure failure);
  /// Reports the event to the consumer.
  void report(const Entry& entry, ConnectionEvent event);
  void emit(ConnectionEvent event);
  void deliver();
  void defer(std::function<void()> callback);
  [[nodiscard]] Entry* find(Link& link);
  [[nodiscard]] Entry* find(ConnectionId connection);
  [[nodiscard]] Entry* find(verbs::QueuePairHandle queue_pair);
  [[nodiscard]] const Entry* find(verbs::QueuePairHandle queue_pair) const;
  /// Makes the connection that of the queue pair; none: of no queue pair any more.
  void assign(Entry& entry, verbs::QueuePairHandle queue_pair);
  void remove(ConnectionId connection);
  [[nodiscard]] Entry& add(stream::Config config, const StartupOptions& options);
  [[nodiscard]] Entry& add_responder(const StartupOptions& options, ListenerId listener);
  [[nodiscard]] std::expected<ConnectionId, Failure> initiate(
      verbs::QueuePairHandle queue_pair, const StartupOptions& options,
      const ConnectParameters& parameters,
      const std::function<std::expected<void, llp::Error>(Link&)>& start);
  [[nodiscard]] static About about(const Entry& entry);
  /// The octets of private data that the consumer may give with its answer.
  [[nodiscard]] std::size_t answer_limit(const Entry& entry) const;
  /// The IRD of an accepted connection.
  [[nodiscard]] std::uint16_t ird_for(const Entry& entry,
                                      const ConnectParameters& parameters) const;

  base::EventLoop& loop_;
  llp::Network& network_;
  verbs::Rnic& rnic_;
  Sink sink_;
  ConnectionDecisions decisions_;
  Limits limits_;
  std::map<ListenerId, std::unique_ptr<ListenerEntry>> listeners_;
  std::map<ConnectionId, Entry> entries_;
  std::map<const Link*, ConnectionId> by_link_;
  /// The latest of a queue pair is last: an earlier one may still be closing.
  std::set<std::pair<verbs::QueuePairHandle, ConnectionId>> by_queue_pair_;
  /// Responders, of which some have been decided on since.
  std::vector<ConnectionId> startups_;
  std::deque<ConnectionEvent> events_;
  bool delivery_due_ = false;
  std::uint64_t next_id_ = 1;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace rnic::access
