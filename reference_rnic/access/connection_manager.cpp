// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Listeners, and the calls of the consumer. connection_events.cpp processes the events of
// connections.
#include "reference_rnic/access/connection_manager.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

namespace rnic::access {

namespace {

std::unexpected<Failure> failure(int code, std::string message) {
  return std::unexpected(Failure{code, std::move(message)});
}

std::unexpected<Failure> failure(verbs::Error error, const std::string& what) {
  const int code = error == verbs::Error::invalid_handle ? EBADF : EINVAL;
  return std::unexpected(Failure{code, what + ": " + verbs::name(error)});
}

stream::Config config_of(const StartupOptions& options) {
  stream::Config config;
  config.revision = options.revision;
  config.markers = options.markers;
  config.crc = options.crc;
  config.enhanced = options.enhanced && options.revision >= 2;
  config.peer_to_peer = options.peer_to_peer && config.enhanced;
  config.rtr = options.rtr;
  config.startup_timeout = options.startup_timeout;
  config.close_timeout = options.close_timeout;
  return config;
}

/// The octets of private data that the consumer may give: the enhanced words take four of the
/// frame's 512 (RFC 6581 section 6).
std::size_t private_data_limit(bool enhanced) {
  return wire::mpa_max_private_data - (enhanced ? sizeof(wire::EnhancedWords) : 0);
}

/// A depth that the consumer left open: as much as we have, but not more than the peer can use.
std::uint16_t depth(const std::optional<std::uint16_t>& wanted, std::uint16_t ours,
                    std::optional<std::uint16_t> peers) {
  if (wanted) return *wanted;
  if (!peers || *peers == wire::read_depth_unnegotiated) return ours;
  return std::min(ours, *peers);
}

}  // namespace

const char* name(ConnectFailure failure) {
  switch (failure) {
    case ConnectFailure::refused:
      return "refused";
    case ConnectFailure::unreachable:
      return "unreachable";
    case ConnectFailure::timeout:
      return "timeout";
    case ConnectFailure::protocol:
      return "protocol";
    case ConnectFailure::lost:
      return "lost";
  }
  return "?";
}

struct ConnectionManager::ListenerEntry final : llp::Listener::Observer {
  ListenerEntry(ConnectionManager& the_manager, ListenerId the_id,
                const StartupOptions& the_options)
      : manager(the_manager), id(the_id), options(the_options) {}
  void accepted(std::unique_ptr<llp::Connection> connection) override {
    manager.accepted(id, std::move(connection));
  }

  ConnectionManager& manager;
  ListenerId id;
  StartupOptions options;
  /// One for each address of the consumer.
  std::vector<std::unique_ptr<llp::Listener>> listeners;
};

ConnectionManager::ConnectionManager(base::EventLoop& loop, llp::Network& network,
                                     verbs::Rnic& rnic, Sink sink, ConnectionDecisions decisions)
    : loop_(loop),
      network_(network),
      rnic_(rnic),
      sink_(std::move(sink)),
      decisions_(std::move(decisions)) {}

ConnectionManager::~ConnectionManager() { reset(); }

// ---- listeners ----

auto ConnectionManager::listen(const base::Address& local, const StartupOptions& options)
    -> std::expected<Listening, Failure> {
  if (rnic_.streams() == nullptr)
    return failure(EOPNOTSUPP, "this RNIC does not expose its connections");
  const ListenerId id{next_id_++};
  auto entry = std::make_unique<ListenerEntry>(*this, id, options);
  auto listener = network_.listen(local, *entry);
  if (!listener) return failure(listener.error().code, std::move(listener.error().message));
  const base::Address address = (*listener)->local();
  entry->listeners.push_back(std::move(*listener));
  decisions_.ask(&Decisions::listening, network_, *entry, entry->listeners);
  listeners_.emplace(id, std::move(entry));
  return Listening{id, address};
}

std::expected<void, Failure> ConnectionManager::stop_listening(ListenerId listener,
                                                               Requests requests) {
  const bool served = std::ranges::any_of(entries_, [&](const auto& item) {
    return item.second.listener == listener && item.second.phase == Phase::starting;
  });
  if (listeners_.erase(listener) == 0 && !served) return failure(EBADF, "no such listener");
  drop_undecided(listener, requests);
  return {};
}

void ConnectionManager::drop_undecided(ListenerId listener, Requests requests) {
  for (auto& [id, entry] : entries_) {
    const bool undecided = entry.phase == Phase::starting ||
                           (entry.phase == Phase::requested && requests == Requests::drop);
    if (entry.listener != listener || !undecided) continue;
    entry.link->reset();
    entry.phase = Phase::over;
    link_finished(*entry.link);
  }
}

std::size_t ConnectionManager::startups_allowed() const {
  std::size_t most = limits_.startups_per_listener;
  decisions_.ask(&Decisions::startups_allowed, most);
  return most;
}

/// Connections of the listener on which nobody has decided.
std::size_t ConnectionManager::undecided_of(ListenerId listener) {
  std::erase_if(startups_, [this](ConnectionId id) {
    const Entry* entry = find(id);
    return entry == nullptr ||
           (entry->phase != Phase::starting && entry->phase != Phase::requested);
  });
  return static_cast<std::size_t>(std::ranges::count_if(
      startups_, [&](ConnectionId id) { return find(id)->listener == listener; }));
}

void ConnectionManager::accepted(ListenerId listener, std::unique_ptr<llp::Connection> connection) {
  const auto found = listeners_.find(listener);
  if (found == listeners_.end() || undecided_of(listener) >= startups_allowed()) {
    connection->reset();
    return;
  }
  add_responder(found->second->options, listener).link->adopt(std::move(connection));
}

std::expected<ListenerId, Failure> ConnectionManager::serve(
    std::unique_ptr<llp::Connection> connection, const StartupOptions& options) {
  if (rnic_.streams() == nullptr)
    return failure(EOPNOTSUPP, "this RNIC does not expose its connections");
  const ListenerId id{next_id_++};
  add_responder(options, id).link->adopt(std::move(connection));
  return id;
}

auto ConnectionManager::add_responder(const StartupOptions& options, ListenerId listener)
    -> Entry& {
  stream::Config config = config_of(options);
  config.role = stream::Role::responder;
  config.ird = rnic_.attributes().max_ird;
  config.ord = rnic_.attributes().max_ord;
  Entry& entry = add(std::move(config), options);
  entry.listener = listener;
  startups_.push_back(entry.id);
  return entry;
}

auto ConnectionManager::add(stream::Config config, const StartupOptions& options) -> Entry& {
  const ConnectionId id{next_id_++};
  Entry& entry = entries_[id];
  entry.id = id;
  Link::Owner& owner = *this;
  entry.link = std::make_unique<Link>(loop_, owner, rnic_.streams()->open_stream(std::move(config)),
                                      options, decisions_);
  by_link_.emplace(entry.link.get(), id);
  return entry;
}

// ---- the consumer's calls ----

std::expected<ConnectionId, Failure> ConnectionManager::connect(
    verbs::QueuePairHandle queue_pair, const base::Address& remote, const StartupOptions& options,
    const ConnectParameters& parameters) {
  return initiate(queue_pair, options, parameters,
                  [&](Link& link) { return link.connect(network_, remote); });
}

std::expected<ConnectionId, Failure> ConnectionManager::connect_over(
    std::unique_ptr<llp::Connection> connection, verbs::QueuePairHandle queue_pair,
    const StartupOptions& options, const ConnectParameters& parameters) {
  return initiate(queue_pair, options, parameters,
                  [&](Link& link) -> std::expected<void, llp::Error> {
                    link.adopt(std::move(connection));
                    return {};
                  });
}

std::expected<ConnectionId, Failure> ConnectionManager::initiate(
    verbs::QueuePairHandle queue_pair, const StartupOptions& options,
    const ConnectParameters& parameters,
    const std::function<std::expected<void, llp::Error>(Link&)>& start) {
  if (rnic_.streams() == nullptr)
    return failure(EOPNOTSUPP, "this RNIC does not expose its connections");
  stream::Config config = config_of(options);
  if (parameters.private_data.size() > private_data_limit(config.enhanced))
    return failure(EINVAL, "more private data than fits a startup frame");
  config.role = stream::Role::initiator;
  config.ird = depth(parameters.ird, rnic_.attributes().max_ird, std::nullopt);
  config.ord = depth(parameters.ord, rnic_.attributes().max_ord, std::nullopt);
  config.private_data = parameters.private_data;
  Entry& entry = add(std::move(config), options);
  assign(entry, queue_pair);
  std::expected<void, Failure> result;
  if (const auto attached = rnic_.streams()->attach(queue_pair, entry.link->stream()); !attached) {
    result = failure(attached.error(), "the queue pair cannot be connected");
  } else if (auto started = start(*entry.link); !started) {
    result = failure(started.error().code, std::move(started.error().message));
  }
  if (result) return entry.id;
  bool nothing_remains = true;
  decisions_.ask(&Decisions::call_refused, Decisions::Refused::connect, result, nothing_remains);
  if (nothing_remains) remove(entry.id);
  return std::unexpected(result.error());
}

std::expected<void, Failure> ConnectionManager::accept(ConnectionId connection,
                                                       verbs::QueuePairHandle queue_pair,
                                                       const ConnectParameters& parameters) {
  Entry* entry = find(connection);
  if (entry == nullptr || entry->phase != Phase::requested) {
    std::expected<void, Failure> answer =
        failure(ECONNRESET, "the request is gone: decided already, or the peer has given up");
    bool nothing_remains = true;
    decisions_.ask(&Decisions::call_refused, Decisions::Refused::late_accept, answer,
                   nothing_remains);
    return answer;
  }
  if (parameters.private_data.size() > answer_limit(*entry))
    return failure(EINVAL, "more private data than fits a startup frame");
  if (const auto attached = rnic_.streams()->attach(queue_pair, entry->link->stream()); !attached)
    return failure(attached.error(), "the queue pair cannot be connected");
  assign(*entry, queue_pair);
  entry->phase = Phase::replied;
  entry->startup_frame = {};
  const auto& asked = entry->asked;
  const std::uint16_t ird = ird_for(*entry, parameters);
  const std::uint16_t ord = depth(parameters.ord, rnic_.attributes().max_ord,
                                  asked ? std::optional(asked->ird) : std::nullopt);
  entry->link->stream().call(&stream::Stream::accept, ird, ord, parameters.private_data,
                             loop_.now());
  entry->link->pump();
  return {};
}

std::size_t ConnectionManager::answer_limit(const Entry& entry) const {
  std::size_t octets = private_data_limit(entry.asked.has_value());
  decisions_.ask(&Decisions::private_data_limited, entry.asked.has_value(), octets);
  return octets;
}

std::uint16_t ConnectionManager::ird_for(const Entry& entry,
                                         const ConnectParameters& parameters) const {
  const std::uint16_t most = rnic_.attributes().max_ird;
  std::uint16_t ird =
      depth(parameters.ird, most, entry.asked ? std::optional(entry.asked->ord) : std::nullopt);
  if (decisions_.empty()) return ird;
  // Each stream has its own read queue (RFC 5042 section 6.4.3.3).
  const auto others = std::ranges::count_if(
      entries_, [](const auto& item) { return item.second.phase == Phase::established; });
  const IrdQuestion question{
      .others = static_cast<std::size_t>(others),
      .most = most,
      .left_open = !parameters.ird,
      .peer_ird = entry.asked ? std::optional(entry.asked->ird) : std::nullopt};
  decisions_.ask(&Decisions::ird_granted, question, ird);
  return ird;
}

std::expected<void, Failure> ConnectionManager::reject(ConnectionId connection,
                                                       wire::Bytes private_data) {
  Entry* entry = find(connection);
  if (entry == nullptr || entry->phase != Phase::requested)
    return failure(ECONNRESET, "the request is gone: decided already, or the peer has given up");
  if (private_data.size() > answer_limit(*entry))
    return failure(EINVAL, "more private data than fits a startup frame");
  entry->phase = Phase::over;
  entry->link->stream().call(&stream::Stream::reject, private_data, loop_.now());
  entry->link->pump();
  return {};
}

std::expected<void, Failure> ConnectionManager::refuse(ConnectionId connection) {
  Entry* entry = find(connection);
  if (entry == nullptr || entry->phase != Phase::requested)
    return failure(ECONNRESET, "the request is gone: decided already, or the peer has given up");
  entry->link->reset();
  entry->phase = Phase::over;
  link_finished(*entry->link);
  return {};
}

auto ConnectionManager::undecided(ConnectionId connection) const -> std::optional<Undecided> {
  const auto found = entries_.find(connection);
  if (found == entries_.end() || found->second.phase != Phase::requested) return std::nullopt;
  const Entry& entry = found->second;
  return Undecided{.connection = entry.link->connection(), .startup_frame = entry.startup_frame};
}

std::unique_ptr<llp::Connection> ConnectionManager::release(ConnectionId connection) {
  Entry* entry = find(connection);
  if (entry == nullptr || entry->phase != Phase::requested) return nullptr;
  auto released = entry->link->release();
  entry->phase = Phase::over;
  link_finished(*entry->link);
  return released;
}

std::expected<void, Failure> ConnectionManager::disconnect(verbs::QueuePairHandle queue_pair,
                                                           bool abortive) {
  Entry* entry = find(queue_pair);
  if (entry == nullptr || entry->phase == Phase::over)
    return failure(ENOTCONN, "the queue pair is not connected");
  if (entry->phase != Phase::established) {  // an attempt that is given up
    entry->link->reset();
    fail(*entry, ConnectFailure::lost);
    link_finished(*entry->link);
    return {};
  }
  if (abortive) {
    entry->faulty = true;
    entry->link->stream().call(&stream::Stream::abort, loop_.now());
  } else {
    entry->link->stream().disconnect();
  }
  entry->link->pump();
  return {};
}

void ConnectionManager::drop(verbs::QueuePairHandle queue_pair) {
  Entry* entry = find(queue_pair);
  if (entry == nullptr) return;
  decisions_.ask(&Decisions::endpoint_dropped, *entry->link);
  entry->link->reset();  // verbs.endpoint.destroyed-while-accepting
  std::erase_if(events_, [&](const ConnectionEvent& event) {
    return std::visit([&](const auto& item) { return item.connection == entry->id; }, event);
  });
  remove(entry->id);
}

void ConnectionManager::leave(verbs::QueuePairHandle queue_pair) {
  Entry* entry = find(queue_pair);
  if (entry == nullptr || entry->phase != Phase::established) return drop(queue_pair);
  entry->link->leave();
  entry->phase = Phase::over;
  assign(*entry, {});
}

void ConnectionManager::reset() {
  for (auto& [id, entry] : entries_) entry.link->reset();
  by_link_.clear();
  by_queue_pair_.clear();
  startups_.clear();
  entries_.clear();
  listeners_.clear();
  events_.clear();
}

auto ConnectionManager::addresses(verbs::QueuePairHandle queue_pair) const
    -> std::optional<Addresses> {
  const Entry* entry = find(queue_pair);
  if (entry == nullptr || entry->link->connection() == nullptr) return std::nullopt;
  const llp::Connection& connection = *entry->link->connection();
  return Addresses{connection.local(), connection.remote()};
}

bool ConnectionManager::is_connecting(verbs::QueuePairHandle queue_pair) const {
  const Entry* entry = find(queue_pair);
  return entry != nullptr && (entry->phase == Phase::starting || entry->phase == Phase::replied);
}

// ---- look-up ----

auto ConnectionManager::find(Link& link) -> Entry* {
  const auto found = by_link_.find(&link);
  return found == by_link_.end() ? nullptr : find(found->second);
}

auto ConnectionManager::find(ConnectionId connection) -> Entry* {
  const auto found = entries_.find(connection);
  return found == entries_.end() ? nullptr : &found->second;
}

auto ConnectionManager::find(verbs::QueuePairHandle queue_pair) const -> const Entry* {
  if (!queue_pair) return nullptr;
  constexpr ConnectionId greatest{~std::uint64_t{0}};
  const auto behind = by_queue_pair_.upper_bound({queue_pair, greatest});
  if (behind == by_queue_pair_.begin() || std::prev(behind)->first != queue_pair) return nullptr;
  return &entries_.at(std::prev(behind)->second);
}

auto ConnectionManager::find(verbs::QueuePairHandle queue_pair) -> Entry* {
  return const_cast<Entry*>(std::as_const(*this).find(queue_pair));
}

void ConnectionManager::assign(Entry& entry, verbs::QueuePairHandle queue_pair) {
  by_queue_pair_.erase({entry.queue_pair, entry.id});
  entry.queue_pair = queue_pair;
  if (queue_pair) by_queue_pair_.emplace(queue_pair, entry.id);
}

void ConnectionManager::remove(ConnectionId connection) {
  const auto found = entries_.find(connection);
  if (found == entries_.end()) return;
  assign(found->second, {});
  by_link_.erase(found->second.link.get());
  entries_.erase(found);
}

}  // namespace rnic::access
