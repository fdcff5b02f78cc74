// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The calls that accept any handle.
#include "reference_rnic/dat/calls.hpp"
#include "reference_rnic/dat/engine.hpp"
#include "reference_rnic/dat/rnic_dat_extensions.h"

namespace rnic::dat::calls {

namespace {

template <typename Body>
DAT_RETURN call_on_any(DAT_HANDLE handle, Body&& body) {
  return call([&](Engine& shared, Engine::Lock&) -> DAT_RETURN {
    Object* object = shared.handles().find_any(handle);
    if (object == nullptr) return invalid_handle(DAT_INVALID_HANDLE1);
    return body(*object);
  });
}

DAT_HANDLE_TYPE type_of(Kind kind) {
  switch (kind) {
    case Kind::ssp:
      return static_cast<DAT_HANDLE_TYPE>(DAT_IW_HANDLE_TYPE_SSP);
    case Kind::rsp:
      return DAT_HANDLE_TYPE_RSP;
    case Kind::psp:
      return DAT_HANDLE_TYPE_PSP;
    case Kind::csp:
      return DAT_HANDLE_TYPE_CSP;
    case Kind::cr:
      return DAT_HANDLE_TYPE_CR;
    case Kind::ep:
      return DAT_HANDLE_TYPE_EP;
    case Kind::rmr:
      return DAT_HANDLE_TYPE_RMR;
    case Kind::lmr:
      return DAT_HANDLE_TYPE_LMR;
    case Kind::srq:
      return DAT_HANDLE_TYPE_SRQ;
    case Kind::evd:
      return DAT_HANDLE_TYPE_EVD;
    case Kind::cno:
      return DAT_HANDLE_TYPE_CNO;
    case Kind::pz:
      return DAT_HANDLE_TYPE_PZ;
    case Kind::ia:
      break;
  }
  return DAT_HANDLE_TYPE_IA;
}

}  // namespace

DAT_RETURN set_consumer_context(DAT_HANDLE handle, DAT_CONTEXT context) {
  return call_on_any(handle, [&](Object& object) -> DAT_RETURN {
    object.context = context;
    return DAT_SUCCESS;
  });
}

DAT_RETURN get_consumer_context(DAT_HANDLE handle, DAT_CONTEXT* context) {
  return call_on_any(handle, [&](Object& object) -> DAT_RETURN {
    if (context == nullptr) return invalid_parameter(2);
    *context = object.context;
    return DAT_SUCCESS;
  });
}

DAT_RETURN get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE* type) {
  return call_on_any(handle, [&](Object& object) -> DAT_RETURN {
    if (type == nullptr) return invalid_parameter(2);
    *type = type_of(object.kind);
    return DAT_SUCCESS;
  });
}

}  // namespace rnic::dat::calls
