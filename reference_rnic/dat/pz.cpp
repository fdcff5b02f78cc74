// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The calls on Protection Zones.
#include "reference_rnic/dat/pz.hpp"

#include "reference_rnic/dat/calls.hpp"

namespace rnic::dat::calls {

DAT_RETURN pz_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE* pz_handle) {
  return call_on<Ia>(ia_handle, [&](Ia& ia) -> DAT_RETURN {
    if (pz_handle == nullptr) return invalid_parameter(2);
    const auto domain = ia.rnic().create_domain();
    if (!domain) return failure(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_PROTECTION_DOMAIN);
    *pz_handle = ia.add(std::make_unique<Pz>(&ia, *domain)).handle;
    return DAT_SUCCESS;
  });
}

DAT_RETURN pz_query(DAT_PZ_HANDLE pz_handle, DAT_PZ_PARAM_MASK mask, DAT_PZ_PARAM* param) {
  return call_on<Pz>(pz_handle, [&](Pz& pz) -> DAT_RETURN {
    if (exceeds(mask, DAT_PZ_FIELD_ALL)) return invalid_parameter(2);
    if (param == nullptr) return invalid_parameter(3);
    param->ia_handle = pz.ia->consumers_handle();
    return DAT_SUCCESS;
  });
}

DAT_RETURN pz_free(DAT_PZ_HANDLE pz_handle) {
  return call_on<Pz>(pz_handle, [&](Pz& pz) -> DAT_RETURN {
    if (pz.users != 0) return failure(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE);
    engine().handles().destroy(pz);
    return DAT_SUCCESS;
  });
}

}  // namespace rnic::dat::calls
