// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Listening, connecting and disconnecting through the kernel's connection manager.
#include <netinet/in.h>
#include <rdma/rdma_cma.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "suite/upper_tester/common_replies.hpp"
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
  if (endpoint.link != Link::idle) return refused("the endpoint is in use", EISCONN);
  if (auto reply = verbs::too_much(command.parameters, "rdma_cm")) return reply;

  endpoint.id = request->second;
  requests_.erase(request);
  endpoint.link = Link::connecting;
  rnic_kagent_connect parameters =
      connection_parameters(command.parameters, endpoint.id, endpoint.queue_pair);
  const int error = file_.call(RNIC_KAGENT_ACCEPT, parameters);
  if (error == 0) return iut::Reply{};
  endpoint.link = Link::disconnected;
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
  if (endpoint.link != Link::idle && endpoint.link != Link::disconnected)
    return refused("the endpoint is in use", EISCONN);
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
  endpoint.remote = *remote;
  endpoint.resolve_attempts = 0;
  if (const int error = resolve(endpoint); error != 0)
    return failed("rdma_resolve_addr " + command.address, error);
  endpoint.link = Link::resolving;
  endpoint.connect_number = number;
  endpoint.parameters = command.parameters;
  return std::nullopt;
}

int KverbsDriver::resolve(Endpoint& endpoint) {
  ++endpoint.resolve_attempts;
  rnic_kagent_resolve resolve{};
  resolve.id = endpoint.id;
  resolve.timeout_ms = verbs::resolve_deadline_ms;
  if (const auto local = verbs::own_address(options_, endpoint.remote.ss_family)) {
    share_zone(endpoint.remote, *local);
    std::memcpy(resolve.source, &*local, sizeof resolve.source);
  }
  std::memcpy(resolve.address, &endpoint.remote, sizeof resolve.address);
  return file_.call(RNIC_KAGENT_RESOLVE_ADDR, resolve);
}

/// The address and the route to it are resolved.
void KverbsDriver::start_connecting(Endpoint& endpoint) {
  rnic_kagent_connect parameters =
      connection_parameters(endpoint.parameters, endpoint.id, endpoint.queue_pair);
  const int error = file_.call(RNIC_KAGENT_CONNECT, parameters);
  if (error == 0) {
    answer_connect(endpoint, iut::Reply{});
    endpoint.link = Link::connecting;
  } else if (verbs::is_connect_failure(error)) {  // siw connects its socket within this call
    answer_connect(endpoint, iut::Reply{});
    fail_connect(endpoint, verbs::connect_failure_name(error));
  } else {
    answer_connect(endpoint, failed("rdma_connect", error));
    endpoint.link = Link::disconnected;
  }
}

void KverbsDriver::answer_connect(Endpoint& endpoint, iut::Reply reply) {
  reply.command = endpoint.connect_number;
  emit(std::move(reply));
}

void KverbsDriver::fail_connect(Endpoint& endpoint, const char* reason) {
  endpoint.link = Link::disconnected;
  iut::ConnectFailedEvent event;
  event.endpoint = endpoint.handle;
  event.reason = reason;
  emit(event);
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::Cancel& command) {
  for (auto& [handle, endpoint] : endpoints_) {
    if (endpoint.link != Link::resolving || endpoint.connect_number != command.command) continue;
    iut::Reply cancelled;
    cancelled.outcome = iut::Outcome::cancelled;
    answer_connect(endpoint, cancelled);
    static_cast<void>(file_.destroy(endpoint.id));
    endpoint.id = 0;
    endpoint.link = Link::idle;
  }
  return iut::Reply{};  // any other command has been answered already
}

// ---------------------------------------------------------------- the end

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::Disconnect& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  Endpoint& endpoint = found->second;
  if (endpoint.link == Link::disconnected) return iut::Reply{};
  if (endpoint.link == Link::idle || endpoint.link == Link::resolving)
    return refused("the endpoint is not connected", ENOTCONN);
  if (command.abortive) {
    if (const int error = modify(endpoint.queue_pair, RNIC_KAGENT_QPS_ERR); error != 0)
      return failed("ib_modify_qp to ERROR", error);
    endpoint.link = Link::closing;
    return iut::Reply{};
  }
  // To disconnect with work in the send queue is an error in iWARP verbs;
  // the report of its end is awaited first.
  endpoint.disconnect_when_done = std::any_of(endpoint.sends.begin(), endpoint.sends.end(),
                                              [](const Posted& each) { return each.signaled; });
  if (endpoint.disconnect_when_done) return iut::Reply{};
  if (const int error = disconnect_now(endpoint); error != 0)
    return failed("rdma_disconnect", error);
  return iut::Reply{};
}

int KverbsDriver::disconnect_now(Endpoint& endpoint) {
  endpoint.disconnect_when_done = false;
  endpoint.link = Link::closing;
  rnic_kagent_object id{};
  id.handle = endpoint.id;
  return file_.call(RNIC_KAGENT_DISCONNECT, id);
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

void KverbsDriver::take(Endpoint& endpoint, const rnic_kagent_event& event) {
  const int error = std::abs(event.status);
  switch (event.code) {
    case RDMA_CM_EVENT_ADDR_RESOLVED: {
      rnic_kagent_resolve_route route{};
      route.id = endpoint.id;
      route.timeout_ms = verbs::resolve_deadline_ms;
      if (const int refused = file_.call(RNIC_KAGENT_RESOLVE_ROUTE, route); refused != 0) {
        answer_connect(endpoint, failed("rdma_resolve_route", refused));
        endpoint.link = Link::disconnected;
      }
      return;
    }
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      return start_connecting(endpoint);
    case RDMA_CM_EVENT_ADDR_ERROR:
      if (error == ETIMEDOUT && endpoint.resolve_attempts < verbs::resolve_attempts &&
          resolve(endpoint) == 0)
        return;
      [[fallthrough]];
    case RDMA_CM_EVENT_ROUTE_ERROR:
      answer_connect(endpoint, iut::Reply{});
      return fail_connect(endpoint, "unreachable");
    case RDMA_CM_EVENT_ESTABLISHED: {
      endpoint.link = Link::connected;
      endpoint.has_been_connected = true;
      iut::EstablishedEvent reported;
      reported.endpoint = endpoint.handle;
      reported.private_data = private_data_of(event);
      reported.ird = event.responder_resources;
      reported.ord = event.initiator_depth;
      return emit(reported);
    }
    default:
      return take_end(endpoint, event);
  }
}

void KverbsDriver::take_end(Endpoint& endpoint, const rnic_kagent_event& event) {
  const int error = std::abs(event.status);
  switch (event.code) {
    case RDMA_CM_EVENT_REJECTED: {
      endpoint.link = Link::disconnected;
      iut::RejectedEvent reported;
      reported.endpoint = endpoint.handle;
      reported.private_data = private_data_of(event);
      return emit(reported);
    }
    case RDMA_CM_EVENT_UNREACHABLE:
      return fail_connect(endpoint, error == ETIMEDOUT ? "timeout" : "unreachable");
    case RDMA_CM_EVENT_CONNECT_ERROR:
      return fail_connect(endpoint, verbs::connect_failure_name(error));
    case RDMA_CM_EVENT_DISCONNECTED: {
      if (endpoint.link == Link::connecting) return fail_connect(endpoint, "lost");
      if (endpoint.link == Link::disconnected) return;
      // As every consumer does: our half is closed too, which flushes what is still posted.
      if (endpoint.link == Link::connected) static_cast<void>(disconnect_now(endpoint));
      endpoint.link = Link::disconnected;
      endpoint.disconnect_when_done = false;
      iut::DisconnectedEvent reported;
      reported.endpoint = endpoint.handle;
      return emit(reported);
    }
    case RDMA_CM_EVENT_DEVICE_REMOVAL: {
      iut::AsynchronousEvent reported;
      reported.endpoint = endpoint.handle;
      reported.kind = "device_fatal";
      reported.detail = "RDMA_CM_EVENT_DEVICE_REMOVAL";
      return emit(reported);
    }
    default:
      return;  // an address change or the end of time-wait, of which a consumer need not know
  }
}

}  // namespace suite::upper_tester::kverbs
