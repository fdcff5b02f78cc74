// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/rdma_core/rdma_cm_id.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <utility>

#include "reference_rnic/access/consumer_setup.hpp"
#include "reference_rnic/llp/tcp_socket.hpp"
#include "reference_rnic/rdma_core/settings.hpp"

namespace rnic::rdma_core {

namespace {

using access::ConnectionManager;

using Ids = std::map<std::uint32_t, std::unique_ptr<CmId>>;

constinit Ids* all_ids = nullptr;

Ids& ids() {
  if (all_ids == nullptr) all_ids = new Ids;  // NOLINT: as the engine
  return *all_ids;
}

bool is_any(const base::Address& address) { return address.octets == base::Address{}.octets; }

/// The address that the host uses towards another; nothing: it has no route.
std::optional<base::Address> source_towards(const base::Address& destination) {
  const int family = destination.family == base::Family::ipv4 ? AF_INET : AF_INET6;
  const base::FileDescriptor probe(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const llp::SocketAddress target(destination.with_port(9));
  llp::SocketAddress source;
  if (!probe || ::connect(probe.get(), target.data(), target.size) != 0 ||
      ::getsockname(probe.get(), source.data(), &source.size) != 0)
    return std::nullopt;
  return source.address().with_port(0);
}

/// Depths are octets here, words of the wire are not.
std::uint8_t octet_of(std::uint16_t depth) {
  return static_cast<std::uint8_t>(std::min<unsigned>(depth, limits::read_depth));
}

/// What the peer has said. Our resources serve its depth: the names are those of our side.
rdma_ucm_conn_param parameters_of(const std::optional<access::PeerDepths>& depths,
                                  std::span<const std::byte> private_data) {
  rdma_ucm_conn_param shown{};
  shown.responder_resources = depths ? octet_of(depths->ird) : limits::read_depth;
  shown.initiator_depth = depths ? octet_of(depths->ord) : limits::read_depth;
  const std::size_t size = std::min<std::size_t>(private_data.size(), UINT8_MAX);
  std::ranges::copy(std::as_bytes(private_data.first(size)),
                    reinterpret_cast<std::byte*>(shown.private_data));
  shown.private_data_len = static_cast<std::uint8_t>(size);
  shown.valid = 1;
  return shown;
}

access::ConnectParameters wanted(const rdma_ucm_conn_param& parameters) {
  const auto* data = reinterpret_cast<const std::byte*>(parameters.private_data);
  return {.ird = std::min<std::uint16_t>(parameters.responder_resources, limits::read_depth),
          .ord = std::min<std::uint16_t>(parameters.initiator_depth, limits::read_depth),
          .private_data = {data, data + parameters.private_data_len}};
}

/// Programs tell each other their ports before they listen (qperf), or agree over another connection that
/// the server is going to (perftest), and rely on a connection manager that takes longer than ours.
access::StartupOptions startup() {
  access::StartupOptions options = access::consumer_startup();
  options.refused_for = std::chrono::seconds(1);
  options.crc = asks_for_crc();
  options.peer_to_peer = asks_for_peer_to_peer();
  return options;
}

}  // namespace

CmId* find_id(std::uint32_t number) {
  const auto found = ids().find(number);
  return found == ids().end() ? nullptr : found->second.get();
}

CmId& add_id(std::unique_ptr<CmId> id) {
  CmId& added = *id;
  ids()[added.number()] = std::move(id);
  return added;
}

void forget_ids() { all_ids = nullptr; }

void remove_id(Engine& shared, std::uint32_t number) {
  CmId* id = find_id(number);
  if (id == nullptr) return;
  id->close(shared);
  ids().erase(number);
}

void remove_ids(Engine& shared, const CmChannel& channel) {
  if (channel.ids == 0) return;  // as with each channel that rdma_migrate_id() leaves
  std::vector<std::uint32_t> gone;
  for (const auto& [number, id] : ids())
    if (&id->channel() == &channel) gone.push_back(number);
  for (const std::uint32_t number : gone) remove_id(shared, number);
}

CmId::CmId(CmChannel& channel, std::uint64_t uid, std::uint16_t port_space)
    : channel_(&channel), uid_(uid), port_space_(port_space) {
  static std::uint32_t last = 0;
  number_ = ++last;
  ++channel.ids;
}

CmId::~CmId() { --channel_->ids; }

// ---- addresses ----

/// Keeps a port of the host's TCP: the RNIC shares its port space.
int CmId::reserve(base::Address& local) {
  const int family = local.family == base::Family::ipv4 ? AF_INET : AF_INET6;
  base::FileDescriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return errno;
  const int yes = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (family == AF_INET6) setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
  const llp::SocketAddress wanted_address(local);
  llp::SocketAddress got;
  if (::bind(socket.get(), wanted_address.data(), wanted_address.size) != 0 ||
      ::getsockname(socket.get(), got.data(), &got.size) != 0)
    return errno;
  local = got.address();
  reservation_ = std::move(socket);
  return 0;
}

int CmId::bind(const base::Address& local) {
  if (state_ != State::idle) return EINVAL;
  base::Address wanted_address = local;
  if (const int error = reserve(wanted_address); error != 0) return error;
  local_ = wanted_address;
  has_device_ = !is_any(local_);
  state_ = State::bound;
  return 0;
}

int CmId::resolve_address(const std::optional<base::Address>& source,
                          const base::Address& destination) {
  if (state_ != State::idle && state_ != State::bound) return EINVAL;
  if (state_ == State::idle && source && !is_any(*source))
    if (const int error = bind(*source); error != 0) return error;
  remote_ = destination;
  if (is_any(local_)) {
    const auto own = source_towards(destination);
    if (!own) {
      state_ = State::idle;
      report(CmEventKind::address_error, -ENETUNREACH);
      return 0;
    }
    local_ = own->with_port(local_.port);
  }
  has_device_ = true;
  state_ = State::address_resolved;
  report(CmEventKind::address_resolved);
  return 0;
}

int CmId::resolve_route() {
  if (state_ != State::address_resolved) return EINVAL;
  state_ = State::route_resolved;
  report(CmEventKind::route_resolved);
  return 0;
}

int CmId::set_option(std::uint32_t level, std::uint32_t name, std::span<const std::byte> value) {
  if (level != RDMA_OPTION_ID) return ENOSYS;  // paths are those of InfiniBand
  int number = 0;
  std::memcpy(&number, value.data(), std::min(value.size(), sizeof number));
  switch (name) {
    case RDMA_OPTION_ID_TOS:
      return value.size() == 1 ? 0 : EINVAL;
    case RDMA_OPTION_ID_REUSEADDR:
      if (value.size() != sizeof number) return EINVAL;
      reuse_address_ = number != 0;
      return 0;
    case RDMA_OPTION_ID_AFONLY:
      if (value.size() != sizeof number) return EINVAL;
      one_family_ = number != 0;
      return 0;
    case RDMA_OPTION_ID_ACK_TIMEOUT:
      return EOPNOTSUPP;
    default:
      return ENOSYS;
  }
}

// ---- connections ----

int CmId::listen(Engine& shared) {
  if (state_ == State::idle)
    if (const int error = bind(base::Address{}); error != 0) return error;
  if (state_ != State::bound) return EINVAL;
  const auto open = [&](const base::Address& address) -> int {
    const auto listening = shared.manager().listen(address, startup());
    if (!listening) return listening.error().code;
    listeners_.push_back(listening->listener);
    shared.id_by_listener[static_cast<std::uint64_t>(listening->listener)] = this;
    return 0;
  };
  if (const int error = open(local_); error != 0) return error;
  // Any address of IPv6 includes those of IPv4.
  if (is_any(local_) && local_.family == base::Family::ipv6 && !one_family_)
    static_cast<void>(open(base::Address{.port = local_.port}));
  state_ = State::listening;
  return 0;
}

Qp* CmId::pair_of(Engine& shared, const rdma_ucm_conn_param& parameters) const {
  const auto found = shared.qp_by_number.find(parameters.qp_num);
  return found == shared.qp_by_number.end() ? nullptr : found->second;
}

void CmId::take(Qp& qp) {
  pair_ = qp.pair;
  qp.id = this;
}

int CmId::connect(Engine& shared, const rdma_ucm_conn_param& parameters) {
  if (state_ != State::route_resolved) return EINVAL;
  Qp* qp = pair_of(shared, parameters);
  if (qp == nullptr) return EINVAL;
  const auto started = shared.manager().connect(qp->pair, remote_, startup(), wanted(parameters));
  if (!started) return started.error().code;
  connection_ = *started;
  take(*qp);
  shared.id_by_connection[static_cast<std::uint64_t>(*started)] = this;
  state_ = State::connecting;
  return 0;
}

void CmId::requested(Engine& shared, const access::ConnectionRequest& request) {
  auto made = std::make_unique<CmId>(*channel_, 0, port_space_);
  made->state_ = State::requested;
  made->local_ = request.local;
  made->remote_ = request.remote;
  made->has_device_ = true;
  made->connection_ = request.connection;
  CmId& id = add_id(std::move(made));
  shared.id_by_connection[static_cast<std::uint64_t>(request.connection)] = &id;
  CmEvent event{.id = this, .request = &id};
  event.shown.uid = uid_;
  event.shown.id = id.number();
  event.shown.event = static_cast<std::uint32_t>(CmEventKind::connect_request);
  event.shown.param.conn = parameters_of(request.depths, request.private_data);
  push(std::move(event));
}

int CmId::accept(Engine& shared, std::uint64_t uid, const rdma_ucm_conn_param& parameters) {
  if (state_ != State::requested) return EINVAL;
  Qp* qp = pair_of(shared, parameters);
  if (qp == nullptr) return EINVAL;
  const auto done = shared.manager().accept(*connection_, qp->pair, wanted(parameters));
  if (!done) return done.error().code;
  uid_ = uid;
  take(*qp);
  state_ = State::connecting;
  return 0;
}

int CmId::reject(Engine& shared, wire::Bytes private_data) {
  if (state_ != State::requested) return EINVAL;
  state_ = State::over;
  const auto done = shared.manager().reject(*connection_, private_data);
  return done ? 0 : done.error().code;
}

int CmId::disconnect(Engine& shared) {
  if (state_ != State::connecting && state_ != State::connected && state_ != State::over)
    return EINVAL;
  const auto found = shared.qp_by_handle.find(pair_.value);
  if (state_ == State::connected && found != shared.qp_by_handle.end())
    leave(shared, *found->second);
  return 0;
}

void CmId::close(Engine& shared) {
  for (const access::ListenerId listener : listeners_) {
    static_cast<void>(shared.manager().stop_listening(listener));
    shared.id_by_listener.erase(static_cast<std::uint64_t>(listener));
  }
  listeners_.clear();
  if (connection_) shared.id_by_connection.erase(static_cast<std::uint64_t>(*connection_));
  if (state_ == State::requested) static_cast<void>(shared.manager().reject(*connection_, {}));
  if (state_ == State::connected) static_cast<void>(disconnect(shared));
  if (state_ == State::connecting) static_cast<void>(shared.manager().disconnect(pair_, true));
  if (const auto found = shared.qp_by_handle.find(pair_.value);
      found != shared.qp_by_handle.end() && found->second->id == this)
    found->second->id = nullptr;
  std::vector<std::uint32_t> unseen;  // requests that the program has never got
  channel_->events.remove(
      [&](const auto& event) { return event->id == this || event->request == this; },
      [&](const auto& event) {
        if (event->request != nullptr && event->request != this)
          unseen.push_back(event->request->number());
      });
  for (const std::uint32_t number : unseen) remove_id(shared, number);
}

// ---- events ----

void CmId::push(CmEvent event) {
  channel_->events.push(std::make_shared<CmEvent>(std::move(event)));
}

void CmId::report(CmEventKind kind, int status, const rdma_ucm_conn_param* parameters) {
  if (uid_ == 0) return;  // the program has not accepted it: it knows no identifier
  CmEvent event{.id = this};
  event.shown.uid = uid_;
  event.shown.id = number_;
  event.shown.event = static_cast<std::uint32_t>(kind);
  event.shown.status = static_cast<std::uint32_t>(status);
  if (parameters != nullptr) event.shown.param.conn = *parameters;
  push(std::move(event));
}

void CmId::migrate(CmChannel& channel) {
  channel_->events.remove([&](const auto& event) { return event->id == this; },
                          [&](auto event) { channel.events.push(std::move(event)); });
  --channel_->ids;
  channel_ = &channel;
  ++channel_->ids;
}

void CmId::happened(Engine& shared, const access::ConnectionEstablished& event) {
  state_ = State::connected;
  if (const auto addresses = shared.manager().addresses(event.queue_pair)) {
    local_ = addresses->local;
    remote_ = addresses->remote;
  }
  if (const auto found = shared.qp_by_handle.find(event.queue_pair.value);
      found != shared.qp_by_handle.end()) {
    found->second->established = true;
    if (found->second->state == IBV_QPS_ERR) leave(shared, *found->second);  // asked for meanwhile
  }
  const rdma_ucm_conn_param shown = parameters_of(event.depths, event.private_data);
  report(CmEventKind::established, 0, &shown);
}

void CmId::happened(Engine&, const access::ConnectionRejected& event) {
  state_ = State::over;
  const rdma_ucm_conn_param shown = parameters_of(event.depths, event.private_data);
  report(CmEventKind::rejected, -ECONNREFUSED, &shown);
}

/// The events that the iWARP connection manager of the kernel gives for the same ends.
void CmId::happened(Engine&, const access::ConnectionFailed& event) {
  state_ = State::over;
  switch (event.failure) {
    case access::ConnectFailure::refused:
      return report(CmEventKind::rejected, -ECONNREFUSED);
    case access::ConnectFailure::lost:
      return report(CmEventKind::rejected, -ECONNRESET);
    case access::ConnectFailure::timeout:
      return report(CmEventKind::unreachable, -ETIMEDOUT);
    case access::ConnectFailure::unreachable:
      return report(CmEventKind::unreachable, -EHOSTUNREACH);
    case access::ConnectFailure::protocol:
      return report(CmEventKind::connect_error, -EPROTO);
  }
}

void CmId::happened(Engine&, const access::ConnectionEnded&) {
  state_ = State::over;
  report(CmEventKind::disconnected);
}

/// Programs destroy the queue pair and then wait for the end of the connection (cmtime).
void CmId::pair_gone() {
  if (state_ != State::connected) return;
  state_ = State::over;
  report(CmEventKind::disconnected);
}

}  // namespace rnic::rdma_core
