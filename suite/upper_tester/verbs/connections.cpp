// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Listening, connecting and disconnecting through librdmacm.
#include <fcntl.h>
#include <netinet/in.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "suite/upper_tester/verbs/connection_rules.hpp"
#include "suite/upper_tester/verbs/names.hpp"
#include "suite/upper_tester/verbs/verbs_driver.hpp"

namespace suite::upper_tester::verbs {
namespace {

sockaddr* generic(sockaddr_storage& storage) { return reinterpret_cast<sockaddr*>(&storage); }

rdma_conn_param connection_parameters(const iut::ConnectParameters& wanted,
                                      const ibv_qp& queue_pair) {
  rdma_conn_param parameters{};
  parameters.private_data = wanted.private_data.data();
  parameters.private_data_len = static_cast<std::uint8_t>(wanted.private_data.size());
  parameters.responder_resources =
      wanted.ird ? static_cast<std::uint8_t>(*wanted.ird) : std::uint8_t{RDMA_MAX_RESP_RES};
  parameters.initiator_depth =
      wanted.ord ? static_cast<std::uint8_t>(*wanted.ord) : std::uint8_t{RDMA_MAX_INIT_DEPTH};
  parameters.qp_num = queue_pair.qp_num;
  parameters.srq = queue_pair.srq != nullptr ? 1 : 0;
  return parameters;
}

}  // namespace

CmId VerbsDriver::make_id(Token token) {
  rdma_cm_id* id = nullptr;
  if (rdma_create_id(connection_channel_.get(), &id, reinterpret_cast<void*>(token), RDMA_PS_TCP) !=
      0)
    return nullptr;
  return CmId(id);
}

// ---------------------------------------------------------------- passive side

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::Listen& command) {
  if (command.listener == 0 || listeners_.count(command.listener) != 0)
    return exists("listener", command.listener);
  const std::string literal = address_to_listen_on(command, options_);
  auto address = socket_address(literal, command.port);
  if (!address) return refused(literal + " is no IPv4 or IPv6 literal", EINVAL);

  Listener listener;
  listener.token = next_token_++;
  listener.id = make_id(listener.token);
  if (listener.id == nullptr) return failed("rdma_create_id", errno);
  int only = 1;
  if (address->ss_family == AF_INET6 &&
      rdma_set_option(listener.id.get(), RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &only,
                      sizeof only) != 0)
    return failed("rdma_set_option AFONLY", errno);
  const std::string host = host_text(generic(*address));
  if (rdma_bind_addr(listener.id.get(), generic(*address)) != 0)
    return failed("rdma_bind_addr " + host + " port " + std::to_string(command.port), errno);
  if (rdma_listen(listener.id.get(), command.backlog.value_or(backlog)) != 0)
    return failed("rdma_listen on " + host, errno);
  iut::Reply reply;
  if (!is_any(host)) reply.address = host;
  reply.port = ntohs(rdma_get_src_port(listener.id.get()));
  listeners_[command.listener] = std::move(listener);
  return reply;
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::StopListening& command) {
  const auto found = listeners_.find(command.listener);
  if (found == listeners_.end()) return no_such("listener", command.listener);
  if (destroy_now(found->second.id) != 0) return failed("rdma_destroy_id", errno);
  listeners_.erase(found);
  return iut::Reply{};
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::Accept& command) {
  const auto request = requests_.find(command.request);
  if (request == requests_.end()) return no_such("connection request", command.request);
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  Endpoint& endpoint = found->second;
  if (auto reply = endpoint.link.refuse_accept()) return reply;
  if (auto reply = too_much(command.parameters, "librdmacm")) return reply;

  endpoint.id = std::move(request->second.id);
  endpoint.id->context = reinterpret_cast<void*>(endpoint.token);
  requests_.erase(request);
  endpoint.link.accepting();
  rdma_conn_param parameters = connection_parameters(command.parameters, *endpoint.queue_pair);
  if (rdma_accept(endpoint.id.get(), &parameters) == 0) return iut::Reply{};
  const int error = errno;
  endpoint.link.broken();
  return failed("rdma_accept", error);
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::Reject& command) {
  const auto request = requests_.find(command.request);
  if (request == requests_.end()) return no_such("connection request", command.request);
  iut::ConnectParameters parameters;
  parameters.private_data = command.private_data;
  if (auto reply = too_much(parameters, "librdmacm")) return reply;
  const int result = rdma_reject(request->second.id.get(), command.private_data.data(),
                                 static_cast<std::uint8_t>(command.private_data.size()));
  const int error = errno;
  requests_.erase(request);
  if (result != 0) return failed("rdma_reject", error);
  return iut::Reply{};
}

// ---------------------------------------------------------------- active side

VerbsDriver::Answer VerbsDriver::run(std::uint64_t number, const iut::Connect& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  Endpoint& endpoint = found->second;
  if (auto reply = endpoint.link.refuse_connect()) return reply;
  if (auto reply = too_much(command.parameters, "librdmacm")) return reply;
  const auto remote = socket_address(command.address, command.port);
  if (!remote) return refused(command.address + " is no IPv4 or IPv6 literal", EINVAL);

  endpoint.link.set_remote(*remote);
  endpoint.id = make_id(endpoint.token);
  if (endpoint.id == nullptr) return failed("rdma_create_id", errno);
  if (resolve(endpoint) != 0) return failed("rdma_resolve_addr " + command.address, errno);
  endpoint.link.resolving(number, command.parameters);
  return std::nullopt;
}

int VerbsDriver::resolve(Endpoint& endpoint) {
  sockaddr_storage& remote = endpoint.link.next_attempt();
  auto local = own_address(options_, remote.ss_family);
  if (local) share_zone(remote, *local);
  return rdma_resolve_addr(endpoint.id.get(), local ? generic(*local) : nullptr, generic(remote),
                           resolve_deadline_ms);
}

/// The address is resolved.
void VerbsDriver::resolve_route(Endpoint& endpoint) {
  const char* device = ibv_get_device_name(endpoint.id->verbs->device);
  if (device_.name != device)
    return emit_all(endpoint.link.refused_after_resolving(
        refused(std::string("the address is reached through device ") + device, EHOSTUNREACH)));
  if (rdma_resolve_route(endpoint.id.get(), resolve_deadline_ms) != 0)
    emit_all(endpoint.link.refused_after_resolving(failed("rdma_resolve_route", errno)));
}

/// The address and the route to it are resolved.
void VerbsDriver::start_connecting(Endpoint& endpoint) {
  rdma_conn_param parameters =
      connection_parameters(endpoint.link.parameters(), *endpoint.queue_pair);
  const int result = rdma_connect(endpoint.id.get(), &parameters);
  emit_all(endpoint.link.connect_called(result == 0 ? 0 : errno));
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::Cancel& command) {
  for (auto& [handle, endpoint] : endpoints_) {
    if (!endpoint.link.awaits(command.command)) continue;
    emit(*endpoint.link.cancelled());
    endpoint.id.reset();
    endpoint.link.cancel();
  }
  return iut::Reply{};  // any other command has been answered already
}

// ---------------------------------------------------------------- the end

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::Disconnect& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  Endpoint& endpoint = found->second;
  if (auto reply = endpoint.link.answer_disconnect()) return reply;
  if (command.abortive) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_ERR;
    if (const int error = ibv_modify_qp(endpoint.queue_pair.get(), &attributes, IBV_QP_STATE);
        error != 0)
      return failed("ibv_modify_qp to ERROR", error);
    endpoint.link.disconnecting_abortively();
    return iut::Reply{};
  }
  if (endpoint.link.may_disconnect() && disconnect_now(endpoint) != 0)
    return failed("rdma_disconnect", errno);
  return iut::Reply{};
}

int VerbsDriver::disconnect_now(Endpoint& endpoint) {
  endpoint.link.disconnecting();
  return rdma_disconnect(endpoint.id.get());
}

// ---------------------------------------------------------------- events

void VerbsDriver::take_cm_events() {
  rdma_cm_event* event = nullptr;
  while (rdma_get_cm_event(connection_channel_.get(), &event) == 0) {
    CmEvent cm_event;
    cm_event.about.type = event->event;
    cm_event.about.error = std::abs(event->status);
    const bool request = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;
    cm_event.id = event->id;
    const rdma_cm_id* meant = request ? event->listen_id : event->id;
    cm_event.token = reinterpret_cast<Token>(meant->context);
    const rdma_conn_param& given = event->param.conn;
    if (given.private_data != nullptr) {
      const auto* start = static_cast<const std::byte*>(given.private_data);
      cm_event.about.private_data.assign(start, start + given.private_data_len);
    }
    if (request || event->event == RDMA_CM_EVENT_ESTABLISHED) {
      cm_event.about.ird = given.responder_resources;
      cm_event.about.ord = given.initiator_depth;
    }
    rdma_ack_cm_event(event);
    take(cm_event);
  }
}

void VerbsDriver::take(const CmEvent& cm_event) {
  if (Endpoint* endpoint = endpoint_of(cm_event.token)) return take(*endpoint, cm_event.about);
  for (const auto& [handle, listener] : listeners_)
    if (listener.token == cm_event.token) {
      if (cm_event.about.type == RDMA_CM_EVENT_CONNECT_REQUEST) take_request(handle, cm_event);
      return;
    }
  if (cm_event.about.type == RDMA_CM_EVENT_CONNECT_REQUEST)
    rdma_destroy_id(cm_event.id);  // its listener is gone
}

void VerbsDriver::take_request(Handle listener, const CmEvent& cm_event) {
  Request request;
  request.id.reset(cm_event.id);
  request.token = next_token_++;
  request.id->context = reinterpret_cast<void*>(request.token);
  // A wildcard listener accepts from all devices; the others are not part of this test.
  if (request.id->verbs == nullptr ||
      device_.name != ibv_get_device_name(request.id->verbs->device))
    return;
  iut::ConnectRequestEvent event;
  event.listener = listener;
  event.request = next_request_++;
  event.private_data = cm_event.about.private_data;
  event.ird = cm_event.about.ird;
  event.ord = cm_event.about.ord;
  requests_[event.request] = std::move(request);
  emit(event);
}

void VerbsDriver::take(Endpoint& endpoint, const LinkEvent& event) {
  Link::Reaction reaction = endpoint.link.take(event);
  switch (reaction.step) {
    case Link::Step::none:
      break;
    case Link::Step::resolve_address:
      if (resolve(endpoint) != 0) reaction.events = endpoint.link.unreachable();
      break;
    case Link::Step::resolve_route:
      return resolve_route(endpoint);
    case Link::Step::connect:
      return start_connecting(endpoint);
    case Link::Step::disconnect:
      rdma_disconnect(endpoint.id.get());
      break;
  }
  emit_all(std::move(reaction.events));
}

}  // namespace suite::upper_tester::verbs
