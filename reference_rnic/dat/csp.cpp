// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The calls on CSPs.
#include "reference_rnic/dat/csp.hpp"

#include <netinet/in.h>

#include <cerrno>

#include "reference_rnic/dat/calls.hpp"
#include "reference_rnic/dat/cr.hpp"

namespace rnic::dat {

DAT_COMM tcp_comm(base::Family family) {
  return {.domain = family == base::Family::ipv4 ? AF_INET : AF_INET6,
          .type = SOCK_STREAM,
          .protocol = IPPROTO_TCP};
}

void Csp::requested(const access::ConnectionRequest& request) {
  if (evd->full()) return static_cast<void>(ia->manager().refuse(request.connection));
  announce(*this, request, nullptr);
}

namespace calls {

namespace {

bool supported(const DAT_COMM& comm, base::Family family) {
  const DAT_COMM ours = tcp_comm(family);
  return comm.domain == ours.domain && comm.type == ours.type &&
         (comm.protocol == 0 || comm.protocol == ours.protocol);
}

}  // namespace

DAT_RETURN csp_create(DAT_IA_HANDLE ia_handle, DAT_COMM* comm, DAT_IA_ADDRESS_PTR address,
                      DAT_EVD_HANDLE evd_handle, DAT_CSP_HANDLE* csp_handle) {
  return call_on<Ia>(ia_handle, [&](Ia& ia) -> DAT_RETURN {
    const base::Address& own = ia.registration().address;
    if (comm == nullptr) return invalid_parameter(2);
    if (!supported(*comm, own.family)) return failure(DAT_COMM_NOT_SUPPORTED);
    if (address == nullptr) return invalid_parameter(3);
    const auto asked = read_address(address);
    if (!asked) return asked.error();
    if (asked->with_port(0) != own)
      return failure(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED);
    Evd* evd = find_evd(evd_handle, DAT_EVD_CR_FLAG);
    if (evd == nullptr || evd->ia != &ia) return invalid_handle(DAT_INVALID_HANDLE_EVD_CR);
    if (csp_handle == nullptr) return invalid_parameter(5);
    Csp& csp = ia.add(std::make_unique<Csp>(&ia, evd));
    if (const auto listening = ia.listen(csp, asked->port); !listening) {
      engine().handles().destroy(csp);
      return listening.error() == EADDRINUSE ? failure(DAT_PORT_IN_USE)
                                             : failure(DAT_INSUFFICIENT_RESOURCES);
    }
    csp.comm = tcp_comm(own.family);
    csp.address = SocketAddress(own.with_port(static_cast<std::uint16_t>(csp.conn_qual)));
    *csp_handle = csp.handle;
    return DAT_SUCCESS;
  });
}

DAT_RETURN csp_query(DAT_CSP_HANDLE csp_handle, DAT_CSP_PARAM_MASK mask, DAT_CSP_PARAM* param) {
  return call_on<Csp>(csp_handle, [&](Csp& csp) -> DAT_RETURN {
    if (exceeds(mask, DAT_CSP_FIELD_ALL)) return invalid_parameter(2);
    if (param == nullptr) return invalid_parameter(3);
    *param = {.ia_handle = csp.ia->consumers_handle(),
              .comm = &csp.comm,
              .address_ptr = csp.address.pointer(),
              .evd_handle = csp.evd.handle()};
    return DAT_SUCCESS;
  });
}

DAT_RETURN csp_free(DAT_CSP_HANDLE csp_handle) {
  return call_on<Csp>(csp_handle, [&](Csp& csp) -> DAT_RETURN {
    engine().handles().destroy(csp);
    return DAT_SUCCESS;
  });
}

}  // namespace calls

}  // namespace rnic::dat
