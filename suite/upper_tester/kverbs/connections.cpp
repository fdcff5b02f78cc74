// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Listening, connecting and disconnecting through the kernel's connection manager.
#include <netinet/in.h>
#include <rdma/rdma_cma.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "suite/upper_tester/common_replies.hpp"
#include "suite/upper_tester/kverbs/device.hpp"
#include "suite/upper_tester/kverbs/kverbs_driver.hpp"
#include "suite/upper_tester/verbs/connection_rules.hpp"
#include "suite/upper_tester/verbs/names.hpp"

namespace suite::upper_tester::kverbs {

using verbs::failed;

namespace {

std::uint16_t port_of(const sockaddr_storage& address) {
  sockaddr_in ipv4{};  // the port is at the same place in both families
  std::memcpy(&ipv4, &address, sizeof ipv4);
  return ntohs(ipv4.sin_port);
}

}  // namespace

/// A kernel consumer states its depths; librdmacm does it for the others, from the device's limits.
rnic_kagent_connect KverbsDriver::connection_parameters(const iut::ConnectParameters& wanted,
                                                        Object id, Object queue_pair) const {
  rnic_kagent_connect parameters{};
  parameters.id = id;
  parameters.qp = queue_pair;
  const auto depth = [](const std::optional<int>& given, std::int32_t most) {
    return static_cast<std::uint8_t>(given.value_or(std::min(most, verbs::max_read_depth)));
  };
  parameters.responder_resources = depth(wanted.ird, device_.max_qp_rd_atom);
  parameters.initiator_depth = depth(wanted.ord, device_.max_qp_init_rd_atom);
  parameters.private_data_length = static_cast<std::uint8_t>(wanted.private_data.size());
  std::memcpy(parameters.private_data, wanted.private_data.data(), wanted.private_data.size());
  return parameters;
}

// ---------------------------------------------------------------- passive side

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::Listen& command) {
  if (command.listener == 0 || listeners_.count(command.listener) != 0)
    return exists("listener", command.listener);
  const std::string literal = verbs::address_to_listen_on(command, options_);
  auto address = socket_address(literal, command.port);
  if (!address) return refused(literal + " is no IPv4 or IPv6 literal", EINVAL);

  rnic_kagent_object id{};
  if (const int error = file_.call(RNIC_KAGENT_CREATE_ID, id); error != 0)
    return failed("rdma_create_id", error);
  rnic_kagent_bind bind{};
  bind.id = id.handle;
  bind.backlog = verbs::backlog;
  bind.afonly = address->ss_family == AF_INET6 ? 1 : 0;
  std::memcpy(bind.address, &*address, sizeof bind.address);
  if (const int error = file_.call(RNIC_KAGENT_BIND, bind); error != 0) {
    static_cast<void>(file_.destroy(id.handle));
    return failed(
        "rdma_bind_addr and rdma_listen on " + literal + " port " + std::to_string(command.port),
        error);
  }
  std::memcpy(&*address, bind.address, sizeof bind.address);
  iut::Reply reply;
  if (!verbs::is_any(literal)) reply.address = literal;
  reply.port = port_of(*address);
  listeners_[command.listener] = id.handle;
  return reply;
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::StopListening& command) {
  const auto found = listeners_.find(command.listener);
  if (found == listeners_.end()) return no_such("listener", command.listener);
  if (const int error = file_.destroy(found->second); error != 0)
    return failed("rdma_destroy_id", error);
  listeners_.erase(found);
  return iut::Reply{};
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::Accept& command) {
  const auto request = requests_.find(command.request);
  if (request == requests_.end()) return no_such("connection request", command.request);
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  Endpoint& endpoint = found->second;
  if (auto reply = endpoint.link.refuse_accept()) return reply;
  if (auto reply = verbs::too_much(command.parameters, "rdma_cm")) return reply;

  endpoint.id = request->second;
  requests_.erase(request);
  endpoint.link.accepting();
  rnic_kagent_connect parameters =
      connection_parameters(command.parameters, endpoint.id, endpoint.queue_pair);
  const int error = file_.call(RNIC_KAGENT_ACCEPT, parameters);
  if (error == 0) return iut::Reply{};
  endpoint.link.broken();
  return failed("rdma_accept", error);
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::Reject& command) {
  const auto request = requests_.find(command.request);
  if (request == requests_.end()) return no_such("connection request", command.request);
  iut::ConnectParameters given;
  given.private_data = command.private_data;
  if (auto reply = verbs::too_much(given, "rdma_cm")) return reply;
  rnic_kagent_connect parameters = connection_parameters(given, request->second, 0);
  const int error = file_.call(RNIC_KAGENT_REJECT, parameters);
  static_cast<void>(file_.destroy(request->second));
  requests_.erase(request);
  if (error != 0) return failed("rdma_reject", error);
  return iut::Reply{};
}

// ---------------------------------------------------------------- active side

KverbsDriver::Answer KverbsDriver::run(std::uint64_t number, const iut::Connect& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  Endpoint& endpoint = found->second;
  if (auto reply = endpoint.link.refuse_connect()) return reply;
  if (auto reply = verbs::too_much(command.parameters, "rdma_cm")) return reply;
  const auto remote = socket_address(command.address, command.port);
  if (!remote) return refused(command.address + " is no IPv4 or IPv6 literal", EINVAL);

  if (const int error = file_.destroy(endpoint.id); error != 0)
    return failed("rdma_destroy_id", error);
  rnic_kagent_object id{};
  endpoint.id = 0;
  if (const int error = file_.call(RNIC_KAGENT_CREATE_ID, id); error != 0)
    return failed("rdma_create_id", error);
  endpoint.id = id.handle;
  endpoint.link.set_remote(*remote);
  if (const int error = resolve(endpoint); error != 0)
    return failed("rdma_resolve_addr " + command.address, error);
  endpoint.link.resolving(number, command.parameters);
  return std::nullopt;
}

int KverbsDriver::resolve(Endpoint& endpoint) {
  sockaddr_storage& remote = endpoint.link.next_attempt();
  rnic_kagent_resolve resolve{};
  resolve.id = endpoint.id;
  resolve.timeout_ms = verbs::resolve_deadline_ms;
  if (const auto local = verbs::own_address(options_, remote.ss_family)) {
    share_zone(remote, *local);
    std::memcpy(resolve.source, &*local, sizeof resolve.source);
  }
  std::memcpy(resolve.address, &remote, sizeof resolve.address);
  return file_.call(RNIC_KAGENT_RESOLVE_ADDR, resolve);
}

/// The address is resolved.
void KverbsDriver::resolve_route(Endpoint& endpoint) {
  rnic_kagent_resolve_route route{};
  route.id = endpoint.id;
  route.timeout_ms = verbs::resolve_deadline_ms;
  if (const int error = file_.call(RNIC_KAGENT_RESOLVE_ROUTE, route); error != 0)
    emit_all(endpoint.link.refused_after_resolving(failed("rdma_resolve_route", error)));
}

/// The address and the route to it are resolved.
void KverbsDriver::start_connecting(Endpoint& endpoint) {
  rnic_kagent_connect parameters =
      connection_parameters(endpoint.link.parameters(), endpoint.id, endpoint.queue_pair);
  emit_all(endpoint.link.connect_called(file_.call(RNIC_KAGENT_CONNECT, parameters)));
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::Cancel& command) {
  for (auto& [handle, endpoint] : endpoints_) {
    if (!endpoint.link.awaits(command.command)) continue;
    emit(*endpoint.link.cancelled());
    static_cast<void>(file_.destroy(endpoint.id));
    endpoint.id = 0;
    endpoint.link.cancel();
  }
  return iut::Reply{};  // any other command has been answered already
}

// ---------------------------------------------------------------- the end

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::Disconnect& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  Endpoint& endpoint = found->second;
  if (auto reply = endpoint.link.answer_disconnect()) return reply;
  if (command.abortive) {
    if (const int error = modify(endpoint.queue_pair, RNIC_KAGENT_QPS_ERR); error != 0)
      return failed("ib_modify_qp to ERROR", error);
    endpoint.link.disconnecting_abortively();
    return iut::Reply{};
  }
  if (!endpoint.link.may_disconnect()) return iut::Reply{};
  if (const int error = disconnect_now(endpoint); error != 0)
    return failed("rdma_disconnect", error);
  return iut::Reply{};
}

int KverbsDriver::disconnect_now(Endpoint& endpoint) {
  endpoint.link.disconnecting();
  return disconnect(endpoint);
}

int KverbsDriver::disconnect(const Endpoint& endpoint) {
  rnic_kagent_object id{};
  id.handle = endpoint.id;
  const int error = file_.call(RNIC_KAGENT_DISCONNECT, id);
  // iWARP's connection manager moves the queue pair itself; it may be in this state already.
  if (!is_iwarp(device_)) static_cast<void>(modify(endpoint.queue_pair, RNIC_KAGENT_QPS_ERR));
  return error;
}

// ---------------------------------------------------------------- events

void KverbsDriver::take_connection_event(const rnic_kagent_event& event) {
  if (Endpoint* endpoint = endpoint_of(event.handle)) return take(*endpoint, event);
  for (const auto& [handle, listener] : listeners_)
    if (listener == event.handle && event.new_id != 0) return take_request(handle, event);
  static_cast<void>(file_.destroy(event.new_id));  // its listener is gone
}

void KverbsDriver::take_request(Handle listener, const rnic_kagent_event& event) {
  iut::ConnectRequestEvent reported;
  reported.listener = listener;
  reported.request = next_request_++;
  reported.private_data = private_data_of(event);
  reported.ird = event.responder_resources;
  reported.ord = event.initiator_depth;
  requests_[reported.request] = event.new_id;
  emit(reported);
}

iut::Octets KverbsDriver::private_data_of(const rnic_kagent_event& event) {
  const auto* start = reinterpret_cast<const std::byte*>(event.private_data);
  return {start, start + event.private_data_length};
}

/// InfiniBand alone: the peer has accepted, and learns that we have heard it. No event says that the
/// connection is up at our end.
void KverbsDriver::establish(Endpoint& endpoint, rnic_kagent_event event) {
  rnic_kagent_connect parameters =
      connection_parameters(endpoint.link.parameters(), endpoint.id, endpoint.queue_pair);
  event.status = -file_.call(RNIC_KAGENT_ESTABLISH, parameters);
  event.code = event.status == 0 ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_ERROR;
  take(endpoint, event);
}

void KverbsDriver::take(Endpoint& endpoint, const rnic_kagent_event& event) {
  if (event.code == RDMA_CM_EVENT_CONNECT_RESPONSE) return establish(endpoint, event);
  using Step = verbs::Link::Step;
  verbs::Link::Reaction reaction = endpoint.link.take(
      {static_cast<rdma_cm_event_type>(event.code), std::abs(event.status), private_data_of(event),
       event.responder_resources, event.initiator_depth});
  switch (reaction.step) {
    case Step::none:
      break;
    case Step::resolve_address:
      if (resolve(endpoint) != 0) reaction.events = endpoint.link.unreachable();
      break;
    case Step::resolve_route:
      return resolve_route(endpoint);
    case Step::connect:
      return start_connecting(endpoint);
    case Step::disconnect:
      static_cast<void>(disconnect(endpoint));
      break;
  }
  emit_all(std::move(reaction.events));
}

}  // namespace suite::upper_tester::kverbs
