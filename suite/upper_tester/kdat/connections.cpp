// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Endpoints, service points and connections.
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>

#include "suite/upper_tester/dat/names.hpp"
#include "suite/upper_tester/kdat/kdat_driver.hpp"

namespace suite::upper_tester::kdat {
namespace {

constexpr std::uint64_t connection_events = 8, waiting_requests = 128;
constexpr Word connect_timeout = 10'000'000;  // microseconds

iut::Octets data_of(const rnic_kdat_event& event) {
  const auto* start = reinterpret_cast<const std::byte*>(event.data);
  return {start, start + std::min<std::size_t>(event.length, RNIC_KDAT_DATA)};
}

}  // namespace

iut::Reply KdatDriver::run(const iut::CreateEndpoint& command) {
  if (command.endpoint == 0 || endpoints_.count(command.endpoint) != 0)
    return exists("endpoint", command.endpoint);
  const auto zone = domains_.find(command.domain);
  if (zone == domains_.end()) return no_such("domain", command.domain);
  if (command.shared_queue != 0 || command.completion_depth != 0)
    return unsupported("this driver shares no receives, and lets no dispatcher overflow");
  Endpoint made;
  iut::Reply why;
  made.receives = make_dispatcher(DAT_EVD_DTO_FLAG, command.receive_depth, why);
  made.requests =
      make_dispatcher(DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, command.send_depth, why);
  made.connection = make_dispatcher(DAT_EVD_CONNECTION_FLAG, connection_events, why);
  const Word most = attributes_.out[RNIC_KDAT_IA_MAX_DTO_PER_EP];
  const Word pieces = std::min<Word>(command.max_pieces, attributes_.out[RNIC_KDAT_IA_MAX_IOV]);
  const Result result = kernel_.call(
      RNIC_KDAT_EP_CREATE, {ia_, zone->second, made.receives, made.requests, made.connection, 1,
                            std::min<Word>(command.receive_depth, most),
                            std::min<Word>(command.send_depth, most), pieces, pieces});
  if (result.good()) {
    made.object = result.out(0);
    endpoints_[command.endpoint] = std::move(made);
    return {};
  }
  free_endpoint(made);
  return why.outcome == iut::Outcome::ok ? failed("dat_ep_create", result) : why;
}

/// An abrupt end of its connection is part of it.
void KdatDriver::free_endpoint(const Endpoint& endpoint) const {
  if (endpoint.object != 0) {
    static_cast<void>(
        kernel_.call(RNIC_KDAT_EP_DISCONNECT, {endpoint.object, DAT_CLOSE_ABRUPT_FLAG}));
    static_cast<void>(kernel_.call(RNIC_KDAT_EP_FREE, {endpoint.object}));
  }
  for (const Word each : {endpoint.receives, endpoint.requests, endpoint.connection})
    if (each != 0) static_cast<void>(kernel_.call(RNIC_KDAT_EVD_FREE, {each}));
}

iut::Reply KdatDriver::run(const iut::DestroyEndpoint& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  give_up_waiting(found->second);
  free_endpoint(found->second);
  endpoints_.erase(found);
  return {};
}

iut::Reply KdatDriver::run(const iut::ResetEndpoint& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  const Result result = kernel_.call(RNIC_KDAT_EP_RESET, {found->second.object});
  return result.good() ? iut::Reply{} : failed("dat_ep_reset", result);
}

iut::Reply KdatDriver::run(const iut::QueryEndpoint& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  const Result result = kernel_.call(RNIC_KDAT_EP_GET_STATUS, {found->second.object});
  if (!result.good()) return failed("dat_ep_get_status", result);
  iut::Reply reply;
  reply.state = dat::state_name(static_cast<DAT_EP_STATE>(result.out(0)));
  return reply;
}

// ---------------------------------------------------------------- passive side

iut::Reply KdatDriver::run(const iut::Listen& command) {
  if (command.listener == 0 || listeners_.count(command.listener) != 0)
    return exists("listener", command.listener);
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = static_cast<in_addr_t>(attributes_.out[RNIC_KDAT_IA_ADDRESS]);
  const std::string address = host_text(reinterpret_cast<const sockaddr*>(&own));
  if (!command.address.empty() && command.address != address)
    return refused("a service point listens on the IA's address, " + address, EADDRNOTAVAIL);
  if (command.address.empty() && command.family == "ipv6")
    return unsupported("the IA has one address, " + address);
  iut::Reply reply;
  Listener made;
  made.arrivals = make_dispatcher(DAT_EVD_CR_FLAG, waiting_requests, reply);
  if (made.arrivals == 0) return reply;
  const bool any = command.port == 0;
  const Result result = kernel_.call(any ? RNIC_KDAT_PSP_CREATE_ANY : RNIC_KDAT_PSP_CREATE,
                                     {ia_, command.port, made.arrivals, DAT_PSP_CONSUMER_FLAG});
  if (!result.good()) {
    static_cast<void>(kernel_.call(RNIC_KDAT_EVD_FREE, {made.arrivals}));
    return failed(any ? "dat_psp_create_any" : "dat_psp_create", result);
  }
  made.point = result.out(0);
  listeners_[command.listener] = made;
  reply.address = address;
  reply.port = static_cast<std::uint16_t>(result.out(1));
  return reply;
}

iut::Reply KdatDriver::run(const iut::StopListening& command) {
  const auto found = listeners_.find(command.listener);
  if (found == listeners_.end()) return no_such("listener", command.listener);
  const Result freed = kernel_.call(RNIC_KDAT_PSP_FREE, {found->second.point});
  if (!freed.good()) return failed("dat_psp_free", freed);
  static_cast<void>(kernel_.call(RNIC_KDAT_EVD_FREE, {found->second.arrivals}));
  listeners_.erase(found);
  return {};
}

void KdatDriver::take_request(Handle listener, const rnic_kdat_event& event) {
  const Result queried = kernel_.call(RNIC_KDAT_CR_QUERY, {event.cr, DAT_CR_FIELD_ALL});
  if (!queried.good()) return;
  iut::ConnectRequestEvent reported;
  reported.listener = listener;
  reported.request = next_request_++;
  const auto* start = reinterpret_cast<const std::byte*>(queried.record.data);
  reported.private_data.assign(start, start + queried.record.data_length);
  requests_[reported.request] = event.cr;
  emit(reported);
}

iut::Reply KdatDriver::run(const iut::Accept& command) {
  const auto request = requests_.find(command.request);
  if (request == requests_.end()) return no_such("connection request", command.request);
  const auto endpoint = endpoints_.find(command.endpoint);
  if (endpoint == endpoints_.end()) return no_such("endpoint", command.endpoint);
  const iut::Octets& data = command.parameters.private_data;
  const Result result = kernel_.call(RNIC_KDAT_CR_ACCEPT,
                                     {request->second, endpoint->second.object, data.size()}, data);
  if (!result.good()) return failed("dat_cr_accept", result);
  requests_.erase(request);
  return {};
}

iut::Reply KdatDriver::run(const iut::Reject& command) {
  const auto request = requests_.find(command.request);
  if (request == requests_.end()) return no_such("connection request", command.request);
  const Result result = kernel_.call(
      RNIC_KDAT_CR_REJECT, {request->second, command.private_data.size()}, command.private_data);
  if (!result.good()) return failed("dat_cr_reject", result);
  requests_.erase(request);
  return {};
}

// ---------------------------------------------------------------- active side

iut::Reply KdatDriver::run(const iut::Connect& command) {
  const auto endpoint = endpoints_.find(command.endpoint);
  if (endpoint == endpoints_.end()) return no_such("endpoint", command.endpoint);
  const auto remote = socket_address(command.address, 0);
  if (!remote || remote->ss_family != AF_INET)
    return refused(command.address + " is no IPv4 literal, as which an IA has its address", EINVAL);
  const Word address = reinterpret_cast<const sockaddr_in&>(*remote).sin_addr.s_addr;
  const iut::Octets& data = command.parameters.private_data;
  const Result result =
      kernel_.call(RNIC_KDAT_EP_CONNECT,
                   {endpoint->second.object, address, ia_, command.port, connect_timeout,
                    data.size(), DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG},
                   data);
  return result.good() ? iut::Reply{} : failed("dat_ep_connect", result);
}

iut::Reply KdatDriver::run(const iut::Disconnect& command) {
  const auto endpoint = endpoints_.find(command.endpoint);
  if (endpoint == endpoints_.end()) return no_such("endpoint", command.endpoint);
  const Result result = kernel_.call(
      RNIC_KDAT_EP_DISCONNECT,
      {endpoint->second.object,
       static_cast<Word>(command.abortive ? DAT_CLOSE_ABRUPT_FLAG : DAT_CLOSE_GRACEFUL_FLAG)});
  return result.good() ? iut::Reply{} : failed("dat_ep_disconnect", result);
}

void KdatDriver::take_connection(Handle handle, const rnic_kdat_event& event) {
  Endpoint& endpoint = endpoints_.at(handle);
  if (event.number != DAT_CONNECTION_EVENT_ESTABLISHED) give_up_waiting(endpoint);
  switch (event.number) {
    case DAT_CONNECTION_EVENT_ESTABLISHED: {
      iut::EstablishedEvent reported;
      reported.endpoint = handle;
      reported.private_data = data_of(event);
      emit(reported);
      return post_waiting(endpoint);
    }
    case DAT_CONNECTION_EVENT_PEER_REJECTED: {
      iut::RejectedEvent reported;
      reported.endpoint = handle;
      reported.private_data = data_of(event);
      return emit(reported);
    }
    case DAT_CONNECTION_EVENT_BROKEN:
    case DAT_CONNECTION_EVENT_DISCONNECTED: {
      iut::DisconnectedEvent reported;
      reported.endpoint = handle;
      return emit(reported);
    }
    default: {
      iut::ConnectFailedEvent reported;
      reported.endpoint = handle;
      reported.reason = dat::connect_failure_name(static_cast<DAT_EVENT_NUMBER>(event.number));
      return emit(reported);
    }
  }
}

}  // namespace suite::upper_tester::kdat
