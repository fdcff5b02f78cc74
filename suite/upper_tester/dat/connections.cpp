// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Listening, connecting and disconnecting.
#include <netinet/in.h>

#include <cerrno>

#include "suite/upper_tester/dat/dat_driver.hpp"
#include "suite/upper_tester/dat/names.hpp"

namespace suite::upper_tester::dat {
namespace {

/// The calls take a pointer to non-const, but do not change the octets.
DAT_PVOID data_of(const iut::Octets& octets) {
  return octets.empty() ? nullptr : const_cast<std::byte*>(octets.data());
}
DAT_COUNT size_of(const iut::Octets& octets) { return static_cast<DAT_COUNT>(octets.size()); }

iut::Octets copy(DAT_PVOID data, DAT_COUNT size) {
  if (data == nullptr || size <= 0) return {};
  const auto* start = static_cast<const std::byte*>(data);
  return {start, start + size};
}

}  // namespace

// ---------------------------------------------------------------- passive side

iut::Reply DatDriver::run(const iut::Listen& command) {
  if (command.listener == 0 || listeners_.count(command.listener) != 0)
    return exists("listener", command.listener);
  const std::string own = host_text(attr_.ia_address_ptr);
  const bool ipv6 = attr_.ia_address_ptr->sa_family == AF_INET6;
  if (!command.address.empty() && command.address != own)
    return refused("a service point listens on the IA's address, " + own, EADDRNOTAVAIL);
  if (command.address.empty() && (command.family == "ipv6") != ipv6)
    return unsupported("the IA has one address, " + own);

  if (options_.sockets) return listen_on_socket(command);
  Listener made;
  if (const std::string error = make(made.requests, waiting_requests, DAT_EVD_CR_FLAG);
      !error.empty())
    return refused(error, ENOMEM);
  DAT_CONN_QUAL port = command.port;
  const DAT_RETURN code = port == 0 ? dat_psp_create_any(ia_, &port, made.requests.get(),
                                                         DAT_PSP_CONSUMER_FLAG, made.point.out())
                                    : dat_psp_create(ia_, port, made.requests.get(),
                                                     DAT_PSP_CONSUMER_FLAG, made.point.out());
  if (code != DAT_SUCCESS)
    return failed(command.port == 0 ? "dat_psp_create_any" : "dat_psp_create", code);
  iut::Reply reply;
  reply.address = own;
  reply.port = static_cast<std::uint16_t>(port);
  listeners_[command.listener] = std::move(made);
  return reply;
}

iut::Reply DatDriver::run(const iut::StopListening& command) {
  const auto found = listeners_.find(command.listener);
  if (found == listeners_.end()) return no_such("listener", command.listener);
  if (const DAT_RETURN code = found->second.point.free_now(); code != DAT_SUCCESS)
    return failed("dat_psp_free", code);
  sockets_.close(found->second.socket);
  listeners_.erase(found);
  return {};
}

void DatDriver::take_requests(Handle listener, const Listener& from) {
  DAT_EVENT event{};
  while (dat_evd_dequeue(from.requests.get(), &event) == DAT_SUCCESS) {
    if (event.event_number != DAT_CONNECTION_REQUEST_EVENT) continue;
    Request request(event.event_data.cr_arrival_event_data.cr_handle);
    DAT_CR_PARAM param{};
    if (dat_cr_query(request.get(), DAT_CR_FIELD_ALL, &param) != DAT_SUCCESS) continue;
    iut::ConnectRequestEvent reported;
    reported.listener = listener;
    reported.request = next_request_++;
    reported.private_data = copy(param.private_data, param.private_data_size);
    requests_[reported.request] = std::move(request);
    emit(reported);
  }
}

/// The depths are attributes of an endpoint that is not connected. An endpoint that already has
/// them is not modified: libdaplofa would give it another queue pair, and then accept no request
/// with it.
std::optional<iut::Reply> DatDriver::set_depths(Endpoint& endpoint,
                                                const iut::ConnectParameters& parameters) {
  DAT_EP_PARAM param{};
  if (const DAT_RETURN code = dat_ep_query(endpoint.object.get(), DAT_EP_FIELD_ALL, &param);
      code != DAT_SUCCESS)
    return failed("dat_ep_query", code);
  DAT_EP_PARAM_MASK mask = 0;
  if (parameters.ird && *parameters.ird != param.ep_attr.max_rdma_read_in) {
    param.ep_attr.max_rdma_read_in = *parameters.ird;
    mask |= DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN;
  }
  if (parameters.ord && *parameters.ord != param.ep_attr.max_rdma_read_out) {
    param.ep_attr.max_rdma_read_out = *parameters.ord;
    mask |= DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT;
  }
  if (mask == 0) return std::nullopt;
  if (const DAT_RETURN code = dat_ep_modify(endpoint.object.get(), mask, &param);
      code != DAT_SUCCESS)
    return failed("dat_ep_modify", code);
  return std::nullopt;
}

iut::Reply DatDriver::run(const iut::Accept& command) {
  const auto request = requests_.find(command.request);
  if (request == requests_.end()) return no_such("connection request", command.request);
  const auto endpoint = endpoints_.find(command.endpoint);
  if (endpoint == endpoints_.end()) return no_such("endpoint", command.endpoint);
  if (auto reply = set_depths(endpoint->second, command.parameters)) return *reply;
  if (options_.sockets && !is_for(request->second, endpoint->second))
    return refused("the socket was handed over for another endpoint", EINVAL);
  // The endpoint of a Socket Service Point is the one that it was made with.
  DAT_EP_HANDLE with = options_.sockets ? DAT_HANDLE_NULL : endpoint->second.object.get();
  const iut::Octets& data = command.parameters.private_data;
  const DAT_RETURN code = dat_cr_accept(request->second.get(), with, size_of(data), data_of(data));
  if (code != DAT_SUCCESS) return failed("dat_cr_accept", code);
  static_cast<void>(request->second.release());
  requests_.erase(request);
  return {};
}

iut::Reply DatDriver::run(const iut::Reject& command) {
  const auto request = requests_.find(command.request);
  if (request == requests_.end()) return no_such("connection request", command.request);
  const DAT_RETURN code = dat_cr_reject(request->second.get(), size_of(command.private_data),
                                        data_of(command.private_data));
  if (code != DAT_SUCCESS) return failed("dat_cr_reject", code);
  static_cast<void>(request->second.release());
  requests_.erase(request);
  return {};
}

// ---------------------------------------------------------------- active side

iut::Reply DatDriver::run(const iut::Connect& command) {
  const auto endpoint = endpoints_.find(command.endpoint);
  if (endpoint == endpoints_.end()) return no_such("endpoint", command.endpoint);
  auto remote = socket_address(command.address, options_.sockets ? command.port : 0);
  if (!remote) return refused(command.address + " is no IPv4 or IPv6 literal", EINVAL);
  if (auto reply = set_depths(endpoint->second, command.parameters)) return *reply;
  if (options_.sockets) return connect_over_socket(command, *remote);
  const iut::Octets& data = command.parameters.private_data;
  const DAT_RETURN code = dat_ep_connect(
      endpoint->second.object.get(), reinterpret_cast<DAT_IA_ADDRESS_PTR>(&*remote), command.port,
      connect_timeout, size_of(data), data_of(data), DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
  if (code != DAT_SUCCESS) return failed("dat_ep_connect", code);
  return {};
}

iut::Reply DatDriver::run(const iut::Cancel&) {
  return {};  // every command has been answered by now
}

// ---------------------------------------------------------------- the end

iut::Reply DatDriver::run(const iut::Disconnect& command) {
  const auto endpoint = endpoints_.find(command.endpoint);
  if (endpoint == endpoints_.end()) return no_such("endpoint", command.endpoint);
  const DAT_RETURN code =
      dat_ep_disconnect(endpoint->second.object.get(),
                        command.abortive ? DAT_CLOSE_ABRUPT_FLAG : DAT_CLOSE_GRACEFUL_FLAG);
  if (code != DAT_SUCCESS) return failed("dat_ep_disconnect", code);
  return {};
}

void DatDriver::take_connection(Handle handle, const DAT_EVENT& event) {
  const DAT_CONNECTION_EVENT_DATA& data = event.event_data.connect_event_data;
  switch (event.event_number) {
    case DAT_CONNECTION_EVENT_ESTABLISHED: {
      iut::EstablishedEvent reported;
      reported.endpoint = handle;
      reported.private_data = copy(data.private_data, data.private_data_size);
      return emit(reported);
    }
    case DAT_CONNECTION_EVENT_PEER_REJECTED: {
      iut::RejectedEvent reported;
      reported.endpoint = handle;
      reported.private_data = copy(data.private_data, data.private_data_size);
      return emit(reported);
    }
    case DAT_CONNECTION_EVENT_BROKEN: {
      iut::AsynchronousEvent reported;
      reported.endpoint = handle;
      reported.kind = "qp_fatal";
      reported.detail = "DAT_CONNECTION_EVENT_BROKEN";
      emit(reported);
      [[fallthrough]];
    }
    case DAT_CONNECTION_EVENT_DISCONNECTED: {
      iut::DisconnectedEvent reported;
      reported.endpoint = handle;
      return emit(reported);
    }
    default: {
      iut::ConnectFailedEvent reported;
      reported.endpoint = handle;
      reported.reason = connect_failure_name(event.event_number);
      return emit(reported);
    }
  }
}

}  // namespace suite::upper_tester::dat
