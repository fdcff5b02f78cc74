// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Connections over TCP sockets of the agent's own, which it hands to the provider: iWARP extension
// of DAT, sections 3.1.1 (Socket Service Point) and 3.1.4 (socket connect).
#include <cerrno>
#include <cstring>

#include "suite/upper_tester/dat/dat_driver.hpp"
#include "suite/upper_tester/dat/names.hpp"

namespace suite::upper_tester::dat {
namespace {

const char* failure_name(int error) {
  switch (error) {
    case ECONNREFUSED:
      return "refused";
    case ETIMEDOUT:
      return "timeout";
    default:
      return "unreachable";
  }
}

}  // namespace

iut::Reply DatDriver::listen_on_socket(const iut::Listen& command) {
  Listener made;
  if (const std::string error = make(made.requests, waiting_requests, DAT_EVD_CR_FLAG);
      !error.empty())
    return refused(error, ENOMEM);
  std::uint16_t port = command.port;
  made.socket = sockets_.listen(*attr_.ia_address_ptr, port);
  if (made.socket < 0) return refused(std::string("listen: ") + std::strerror(errno), errno);
  iut::Reply reply;
  reply.address = host_text(attr_.ia_address_ptr);
  reply.port = port;
  listeners_[command.listener] = std::move(made);
  return reply;
}

iut::Reply DatDriver::connect_over_socket(const iut::Connect& command,
                                          const sockaddr_storage& remote) {
  const int socket = sockets_.connect(*attr_.ia_address_ptr, remote);
  if (socket < 0)  // what a peer of this host answers comes at once
    report_failure(command, failure_name(errno));
  else
    connecting_[socket] = command;
  return {};
}

void DatDriver::take_sockets() {
  for (const int socket : sockets_.ready()) {
    if (auto connected = connecting_.extract(socket)) {
      start_mpa_on(socket, connected.mapped());
      continue;
    }
    for (auto& [handle, listener] : listeners_)
      if (listener.socket == socket) accept_on(listener);
  }
}

/// The service point holds its endpoint from the beginning, before there is a Request. Without one
/// of ours, the provider makes one, and the Request can only be rejected.
void DatDriver::accept_on(Listener& listener) {
  const int socket = sockets_.accept(listener.socket);
  if (socket < 0) return;
  SocketPoint point;
  if (create_socket_point(ia_, socket, idle_endpoint(), listener.requests.get(), point.out()) !=
      DAT_SUCCESS)
    return sockets_.close(socket);
  listener.points.push_back(std::move(point));
}

void DatDriver::start_mpa_on(int socket, const iut::Connect& command) {
  int error = 0;
  socklen_t size = sizeof error;
  static_cast<void>(::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size));
  const auto endpoint = endpoints_.find(command.endpoint);
  if (error != 0 || endpoint == endpoints_.end()) {
    sockets_.close(socket);
    return report_failure(command, failure_name(error));
  }
  sockets_.hand_over(socket);
  iut::Octets data = command.parameters.private_data;
  const DAT_RETURN code =
      connect_socket(endpoint->second.object.get(), socket, connect_timeout,
                     static_cast<DAT_COUNT>(data.size()), data.empty() ? nullptr : data.data());
  if (code != DAT_SUCCESS) report_failure(command, "protocol");
}

void DatDriver::report_failure(const iut::Connect& command, const char* reason) const {
  iut::ConnectFailedEvent failure;
  failure.endpoint = command.endpoint;
  failure.reason = reason;
  emit(failure);
}

DAT_EP_HANDLE DatDriver::idle_endpoint() const {
  for (const auto& [handle, endpoint] : endpoints_) {
    DAT_EP_STATE state = DAT_EP_STATE_DISCONNECTED;
    DAT_BOOLEAN receives_idle = DAT_FALSE, requests_idle = DAT_FALSE;
    if (dat_ep_get_status(endpoint.object.get(), &state, &receives_idle, &requests_idle) ==
            DAT_SUCCESS &&
        state == DAT_EP_STATE_UNCONNECTED)
      return endpoint.object.get();
  }
  return DAT_HANDLE_NULL;
}

bool DatDriver::is_for(const Request& request, const Endpoint& endpoint) const {
  DAT_CR_PARAM param{};
  return dat_cr_query(request.get(), DAT_CR_FIELD_ALL, &param) == DAT_SUCCESS &&
         param.local_ep_handle == endpoint.object.get();
}

}  // namespace suite::upper_tester::dat
