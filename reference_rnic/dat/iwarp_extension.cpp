// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The iWARP extension: Socket Service Points, and connects over the consumer's socket.
#include <sys/socket.h>

#include <chrono>
#include <cstdarg>

#include "reference_rnic/access/consumer_setup.hpp"
#include "reference_rnic/dat/calls.hpp"
#include "reference_rnic/dat/cr.hpp"
#include "reference_rnic/dat/private_data.hpp"
#include "reference_rnic/dat/rnic_dat_extensions.h"
#include "reference_rnic/dat/ssp.hpp"

namespace rnic::dat {

Ssp::~Ssp() {
  borrowed->down = nullptr;
  if (ep == nullptr) return;
  if (ep->state == DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING)
    engine().handles().destroy(*ep);  // made by the provider
  else
    ep->move(EpInput::reservation_freed);
}

void Ssp::requested(const access::ConnectionRequest& request) {
  operational = false;
  borrowed->down = nullptr;
  ia->forget_listener(*this);
  if (ep == nullptr || evd->full())
    return static_cast<void>(ia->manager().refuse(request.connection));
  ep->move(EpInput::request_came);
  ep->borrowed = borrowed;
  announce(*this, request, std::exchange(ep, nullptr));
}

void Ssp::socket_down() {
  operational = false;
  DAT_EVENT event{};
  event.event_number = static_cast<DAT_EVENT_NUMBER>(DAT_CONNECTION_EVENT_SOCKET_DOWN);
  event.event_data.connect_event_data = {.ep_handle = ep == nullptr ? DAT_HANDLE_NULL : ep->handle,
                                         .private_data_size = 0,
                                         .private_data = nullptr};
  evd->post(event);
}

namespace calls {

namespace {

struct SspCreateCall {
  DAT_IW_SOCKET socket;
  DAT_EP_HANDLE ep;
  DAT_EVD_HANDLE evd;
  const void* message;
  DAT_COUNT length;
  DAT_IW_SSP_HANDLE* ssp;
};

/// All of it, as one piece of the stream.
bool send_all(int socket, const void* message, DAT_COUNT length) {
  const auto size = static_cast<std::size_t>(length);
  return size == 0 || ::send(socket, message, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

DAT_RETURN ssp_create(Ia& ia, const SspCreateCall& asked) {
  const auto peer = lendable(asked.socket, ia.registration().address, 2);
  if (!peer) return peer.error();
  Ep* ep = find<Ep>(asked.ep);
  if (asked.ep != DAT_HANDLE_NULL && (ep == nullptr || ep->ia != &ia))
    return invalid_handle(Ep::subtype);
  Evd* evd = find_evd(asked.evd, DAT_EVD_CR_FLAG);
  if (evd == nullptr || evd->ia != &ia) return invalid_handle(DAT_INVALID_HANDLE_EVD_CR);
  if (asked.length < 0) return invalid_parameter(6);
  if (asked.message == nullptr && asked.length > 0) return invalid_parameter(5);
  if (asked.ssp == nullptr) return invalid_parameter(7);
  if (ep != nullptr)
    if (const DAT_RETURN fault = ep->admits(EpInput::reserved); fault != DAT_SUCCESS) return fault;
  if (!send_all(asked.socket, asked.message, asked.length)) return failure(DAT_INVALID_STATE);
  if (ep == nullptr) ep = &provider_ep(ia);
  ep->move(EpInput::reserved);
  const auto borrowed =
      std::make_shared<BorrowedSocket>(BorrowedSocket{.socket = asked.socket, .down = nullptr});
  Ssp& ssp = ia.add(std::make_unique<Ssp>(&ia, evd, *ep, borrowed));
  borrowed->down = [&ssp] { ssp.socket_down(); };
  access::StartupOptions options = access::consumer_startup();
  options.startup_timeout = std::chrono::hours(24);
  if (!ia.serve(ssp, borrow(ia.loop(), borrowed), options)) {
    engine().handles().destroy(ssp);
    return failure(DAT_INSUFFICIENT_RESOURCES);
  }
  *asked.ssp = ssp.handle;
  return DAT_SUCCESS;
}

DAT_RETURN ssp_query(Ssp& ssp, int mask, DAT_IW_SSP_PARAM* param) {
  if ((mask & ~DAT_IW_SSP_FIELD_ALL) != 0) return invalid_parameter(2);
  if (param == nullptr) return invalid_parameter(3);
  *param = {.ia_handle = ssp.ia->consumers_handle(),
            .socket_id = ssp.borrowed->socket,
            .evd_handle = ssp.evd.handle(),
            .ep_handle = ssp.ep == nullptr ? DAT_HANDLE_NULL : ssp.ep->handle,
            .ssp_state =
                ssp.operational ? DAT_IW_SSP_STATE_OPERATIONAL : DAT_IW_SSP_STATE_NON_OPERATIONAL};
  return DAT_SUCCESS;
}

struct SocketConnectCall {
  DAT_IW_SOCKET socket;
  DAT_TIMEOUT timeout;
  DAT_COUNT size;
  const void* data;
};

DAT_RETURN socket_connect(Ep& ep, const SocketConnectCall& asked) {
  if (asked.timeout == 0) return invalid_parameter(3);
  const auto private_data = read_private_data(asked.size, asked.data, 4);
  if (!private_data) return private_data.error();
  const auto peer = lendable(asked.socket, ep.ia->registration().address, 2);
  if (!peer) return peer.error();
  if (!ep.pz) return failure(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_PZ);
  if (!ep.recv_evd) return failure(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_EVD_RECV);
  if (!ep.request_evd) return failure(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_EVD_REQUEST);
  return ep.connect({.private_data = *private_data,
                     .remote = *peer,
                     .timeout = asked.timeout,
                     .socket = asked.socket});
}

}  // namespace

/// The arguments are in the order in which rnic_dat_extensions.h passes them.
DAT_RETURN extension_op(DAT_HANDLE handle, DAT_EXTENDED_OP operation, va_list arguments) {
  switch (operation) {
    case DAT_IW_SSP_CREATE_OP: {
      static_cast<void>(va_arg(arguments, DAT_IA_HANDLE));  // the consumer's number for `handle`
      SspCreateCall asked{};
      asked.socket = va_arg(arguments, DAT_IW_SOCKET);
      asked.ep = va_arg(arguments, DAT_EP_HANDLE);
      asked.evd = va_arg(arguments, DAT_EVD_HANDLE);
      asked.message = va_arg(arguments, DAT_PVOID);
      asked.length = va_arg(arguments, DAT_COUNT);
      asked.ssp = va_arg(arguments, DAT_IW_SSP_HANDLE*);
      return call_on<Ia>(handle, [&](Ia& ia) { return ssp_create(ia, asked); });
    }
    case DAT_IW_SSP_FREE_OP:
      return call_on<Ssp>(handle, [&](Ssp& ssp) -> DAT_RETURN {
        engine().handles().destroy(ssp);
        return DAT_SUCCESS;
      });
    case DAT_IW_SSP_QUERY_OP: {
      const int mask = va_arg(arguments, int);
      auto* param = va_arg(arguments, DAT_IW_SSP_PARAM*);
      return call_on<Ssp>(handle, [&](Ssp& ssp) { return ssp_query(ssp, mask, param); });
    }
    case DAT_IW_SOCKET_CONNECT_OP: {
      SocketConnectCall asked{};
      asked.socket = va_arg(arguments, DAT_IW_SOCKET);
      asked.timeout = va_arg(arguments, DAT_TIMEOUT);
      asked.size = va_arg(arguments, DAT_COUNT);
      asked.data = va_arg(arguments, DAT_PVOID);
      return call_on<Ep>(handle, [&](Ep& ep) { return socket_connect(ep, asked); });
    }
    default:
      return failure(DAT_NOT_IMPLEMENTED);
  }
}

}  // namespace calls

}  // namespace rnic::dat
