// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The calls on RSPs.
#include "reference_rnic/dat/rsp.hpp"

#include <cerrno>

#include "reference_rnic/dat/calls.hpp"
#include "reference_rnic/dat/cr.hpp"

namespace rnic::dat {

Rsp::~Rsp() {
  if (ep == nullptr) return;
  if (ep->state == DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING)
    engine().handles().destroy(*ep);  // made by the provider
  else
    ep->move(EpInput::reservation_freed);
}

void Rsp::requested(const access::ConnectionRequest& request) {
  if (ep == nullptr || evd->full())
    return static_cast<void>(ia->manager().refuse(request.connection));
  ia->stop_listening(*this);
  ep->move(EpInput::request_came);
  announce(*this, request, std::exchange(ep, nullptr));
}

namespace calls {

DAT_RETURN rsp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual, DAT_EP_HANDLE ep_handle,
                      DAT_EVD_HANDLE evd_handle, DAT_RSP_HANDLE* rsp_handle) {
  return call_on<Ia>(ia_handle, [&](Ia& ia) -> DAT_RETURN {
    if (conn_qual == 0 || conn_qual > 0xFFFF) return invalid_parameter(2);
    Ep* ep = find<Ep>(ep_handle);
    if (ep_handle != DAT_HANDLE_NULL && (ep == nullptr || ep->ia != &ia))
      return invalid_handle(Ep::subtype);
    Evd* evd = find_evd(evd_handle, DAT_EVD_CR_FLAG);
    if (evd == nullptr || evd->ia != &ia) return invalid_handle(DAT_INVALID_HANDLE_EVD_CR);
    if (rsp_handle == nullptr) return invalid_parameter(5);
    if (ep != nullptr)
      if (const DAT_RETURN fault = ep->admits(EpInput::reserved); fault != DAT_SUCCESS)
        return fault;
    if (ep == nullptr) ep = &provider_ep(ia);
    ep->move(EpInput::reserved);
    Rsp& rsp = ia.add(std::make_unique<Rsp>(&ia, evd, *ep));
    if (const auto listening = ia.listen(rsp, conn_qual); !listening) {
      engine().handles().destroy(rsp);
      return listening.error() == EADDRINUSE ? failure(DAT_CONN_QUAL_IN_USE)
                                             : failure(DAT_INSUFFICIENT_RESOURCES);
    }
    *rsp_handle = rsp.handle;
    return DAT_SUCCESS;
  });
}

DAT_RETURN rsp_query(DAT_RSP_HANDLE rsp_handle, DAT_RSP_PARAM_MASK mask, DAT_RSP_PARAM* param) {
  return call_on<Rsp>(rsp_handle, [&](Rsp& rsp) -> DAT_RETURN {
    if (exceeds(mask, DAT_RSP_FIELD_ALL)) return invalid_parameter(2);
    if (param == nullptr) return invalid_parameter(3);
    *param = {.ia_handle = rsp.ia->consumers_handle(),
              .conn_qual = rsp.conn_qual,
              .evd_handle = rsp.evd.handle(),
              .ep_handle = rsp.ep == nullptr ? DAT_HANDLE_NULL : rsp.ep->handle};
    return DAT_SUCCESS;
  });
}

DAT_RETURN rsp_free(DAT_RSP_HANDLE rsp_handle) {
  return call_on<Rsp>(rsp_handle, [&](Rsp& rsp) -> DAT_RETURN {
    engine().handles().destroy(rsp);
    return DAT_SUCCESS;
  });
}

}  // namespace calls

}  // namespace rnic::dat
