// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The calls on PSPs.
#include "reference_rnic/dat/psp.hpp"

#include <cerrno>

#include "reference_rnic/dat/calls.hpp"
#include "reference_rnic/dat/cr.hpp"
#include "reference_rnic/dat/ep.hpp"

namespace rnic::dat {

void Psp::requested(const access::ConnectionRequest& request) {
  if (evd->full()) return static_cast<void>(ia->manager().refuse(request.connection));
  announce(*this, request, flags == DAT_PSP_PROVIDER_FLAG ? &provider_ep(*ia) : nullptr);
}

namespace calls {

namespace {

struct CreateCall {
  DAT_CONN_QUAL conn_qual;  ///< 0: any
  DAT_EVD_HANDLE evd;
  DAT_PSP_FLAGS flags;
  DAT_PSP_HANDLE* psp;
};

DAT_RETURN create(Ia& ia, const CreateCall& asked, DAT_CONN_QUAL* conn_qual) {
  Evd* evd = find_evd(asked.evd, DAT_EVD_CR_FLAG);
  if (evd == nullptr || evd->ia != &ia) return invalid_handle(DAT_INVALID_HANDLE_EVD_CR);
  if (asked.flags != DAT_PSP_CONSUMER_FLAG && asked.flags != DAT_PSP_PROVIDER_FLAG)
    return invalid_parameter(4);
  if (asked.psp == nullptr) return invalid_parameter(5);
  Psp& psp = ia.add(std::make_unique<Psp>(&ia, evd, asked.flags));
  if (const auto listening = ia.listen(psp, asked.conn_qual); !listening) {
    engine().handles().destroy(psp);
    return listening.error() == EADDRINUSE ? failure(DAT_CONN_QUAL_IN_USE)
                                           : failure(DAT_INSUFFICIENT_RESOURCES);
  }
  *asked.psp = psp.handle;
  if (conn_qual != nullptr) *conn_qual = psp.conn_qual;
  return DAT_SUCCESS;
}

}  // namespace

DAT_RETURN psp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual, DAT_EVD_HANDLE evd,
                      DAT_PSP_FLAGS flags, DAT_PSP_HANDLE* psp) {
  return call_on<Ia>(ia_handle, [&](Ia& ia) -> DAT_RETURN {
    if (conn_qual == 0 || conn_qual > 0xFFFF) return invalid_parameter(2);
    return create(ia, {conn_qual, evd, flags, psp}, nullptr);
  });
}

DAT_RETURN psp_create_any(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL* conn_qual, DAT_EVD_HANDLE evd,
                          DAT_PSP_FLAGS flags, DAT_PSP_HANDLE* psp) {
  return call_on<Ia>(ia_handle, [&](Ia& ia) -> DAT_RETURN {
    if (conn_qual == nullptr) return invalid_parameter(2);
    const DAT_RETURN created = create(ia, {0, evd, flags, psp}, conn_qual);
    return DAT_GET_TYPE(created) == DAT_CONN_QUAL_IN_USE ? failure(DAT_CONN_QUAL_UNAVAILABLE)
                                                         : created;
  });
}

DAT_RETURN psp_query(DAT_PSP_HANDLE psp_handle, DAT_PSP_PARAM_MASK mask, DAT_PSP_PARAM* param) {
  return call_on<Psp>(psp_handle, [&](Psp& psp) -> DAT_RETURN {
    if (exceeds(mask, DAT_PSP_FIELD_ALL)) return invalid_parameter(2);
    if (param == nullptr) return invalid_parameter(3);
    *param = {.ia_handle = psp.ia->consumers_handle(),
              .conn_qual = psp.conn_qual,
              .evd_handle = psp.evd.handle(),
              .psp_flags = psp.flags};
    return DAT_SUCCESS;
  });
}

DAT_RETURN psp_free(DAT_PSP_HANDLE psp_handle) {
  return call_on<Psp>(psp_handle, [&](Psp& psp) -> DAT_RETURN {
    engine().handles().destroy(psp);
    return DAT_SUCCESS;
  });
}

}  // namespace calls

}  // namespace rnic::dat
