// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The calls on RMRs.
#include "reference_rnic/dat/rmr.hpp"

#include "reference_rnic/dat/calls.hpp"
#include "reference_rnic/dat/ep.hpp"

namespace rnic::dat {

void Rmr::forget() {
  triplet = {};
  privileges = DAT_MEM_PRIV_NONE_FLAG;
  rmr_context = 0;
}

void Rmr::outlive(verbs::QueuePairHandle pair) {
  if (scope != DAT_RMR_SCOPE_EP || bound_by != pair) return;
  bound_by = {};
  forget();
  static_cast<void>(ia->rnic().free_window(window.window));
  window = *ia->rnic().allocate_window(pz->domain, verbs::WindowScope::queue_pair);
}

bool Rmr::bound() const {
  const auto info = ia->rnic().query_window(window.window);
  return info && info->bound;
}

namespace calls {

namespace {

DAT_RETURN create(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE* rmr_handle, DAT_RMR_SCOPE scope) {
  return call_on<Pz>(pz_handle, [&](Pz& pz) -> DAT_RETURN {
    if (rmr_handle == nullptr) return invalid_parameter(2);
    const auto window = pz.ia->rnic().allocate_window(
        pz.domain,
        scope == DAT_RMR_SCOPE_EP ? verbs::WindowScope::queue_pair : verbs::WindowScope::domain);
    if (!window) return failure(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY_REGION);
    *rmr_handle = pz.ia->add(std::make_unique<Rmr>(pz.ia, &pz, *window, scope)).handle;
    return DAT_SUCCESS;
  });
}

constexpr unsigned remote_privileges =
    DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG;

/// Whether the LMR allows the requested window.
DAT_RETURN admit(const Rmr& rmr, const Lmr& lmr, const DAT_LMR_TRIPLET& triplet,
                 DAT_MEM_PRIV_FLAGS privileges) {
  if (lmr.pz.get() != rmr.pz.get()) return failure(DAT_PROTECTION_VIOLATION);
  if (triplet.lmr_context != lmr.region.stag ||
      !lmr.covers(triplet.virtual_address, triplet.segment_length))
    return invalid_parameter(3);
  if (has(privileges, DAT_MEM_PRIV_REMOTE_WRITE_FLAG) &&
      !has(lmr.privileges, DAT_MEM_PRIV_LOCAL_WRITE_FLAG))
    return failure(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_RDMA_WRITE);
  return DAT_SUCCESS;
}

struct BindCall {
  const Lmr* lmr;  ///< null: unbind
  DAT_LMR_TRIPLET triplet;
  DAT_MEM_PRIV_FLAGS privileges;
  DAT_VA_TYPE va_type;
  DAT_RMR_COOKIE cookie;
  DAT_COMPLETION_FLAGS flags;
};

DAT_RETURN bind(Rmr& rmr, Ep& ep, const BindCall& asked) {
  // Each bind gives a new context, so that the old one is no longer valid.
  const DAT_RMR_CONTEXT before = rmr.window.stag;
  const auto key = static_cast<std::uint8_t>(before + 1);
  const DAT_RMR_CONTEXT after = (before & ~DAT_RMR_CONTEXT{0xFF}) | key;
  const verbs::BindRequest request{
      .window = rmr.window.window,
      .region = asked.lmr == nullptr ? verbs::RegionHandle{} : asked.lmr->region.region,
      .offset = asked.triplet.virtual_address,
      .length = asked.lmr == nullptr ? 0 : asked.triplet.segment_length,
      .access = {.remote_read = has(asked.privileges, DAT_MEM_PRIV_REMOTE_READ_FLAG),
                 .remote_write = has(asked.privileges, DAT_MEM_PRIV_REMOTE_WRITE_FLAG)},
      .zero_based = asked.va_type == DAT_VA_TYPE_ZB,
      .key = key};
  const Ep::Part part{.request = {.operation = verbs::Operation::bind_window, .bind = request}};
  const DAT_RETURN posted = ep.post(part, {.operation = DAT_DTO_BIND_MW,
                                           .cookie = asked.cookie,
                                           .flags = asked.flags,
                                           .rmr = rmr.handle});
  if (posted != DAT_SUCCESS) return posted;
  if (asked.lmr == nullptr) {
    rmr.forget();
    return DAT_SUCCESS;
  }
  rmr.window.stag = rmr.rmr_context = after;
  rmr.bound_by = ep.pair;
  rmr.triplet = asked.triplet;
  rmr.privileges = asked.privileges;
  rmr.va_type = asked.va_type;
  return DAT_SUCCESS;
}

}  // namespace

DAT_RETURN rmr_create(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE* rmr) {
  return create(pz, rmr, DAT_RMR_SCOPE_PZ);
}

DAT_RETURN rmr_create_for_ep(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE* rmr) {
  return create(pz, rmr, DAT_RMR_SCOPE_EP);
}

DAT_RETURN rmr_query(DAT_RMR_HANDLE rmr_handle, DAT_RMR_PARAM_MASK mask, DAT_RMR_PARAM* param) {
  return call_on<Rmr>(rmr_handle, [&](Rmr& rmr) -> DAT_RETURN {
    if (exceeds(mask, DAT_RMR_FIELD_ALL)) return invalid_parameter(2);
    if (param == nullptr) return invalid_parameter(3);
    rmr.ia->drain();
    const bool bound = rmr.bound();
    *param = {.ia_handle = rmr.ia->consumers_handle(),
              .pz_handle = rmr.pz.handle(),
              .lmr_triplet = bound ? rmr.triplet : DAT_LMR_TRIPLET{},
              .mem_priv = bound ? rmr.privileges : DAT_MEM_PRIV_NONE_FLAG,
              .rmr_context = bound ? rmr.rmr_context : 0,
              .rmr_scope = rmr.scope,
              .va_type = rmr.va_type};
    return DAT_SUCCESS;
  });
}

DAT_RETURN rmr_bind(DAT_RMR_HANDLE rmr_handle, DAT_LMR_HANDLE lmr_handle,
                    const DAT_LMR_TRIPLET* triplet, DAT_MEM_PRIV_FLAGS privileges,
                    DAT_VA_TYPE va_type, DAT_EP_HANDLE ep_handle, DAT_RMR_COOKIE cookie,
                    DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT* context) {
  return call_on<Rmr>(rmr_handle, [&](Rmr& rmr) -> DAT_RETURN {
    if (triplet == nullptr) return invalid_parameter(3);
    const bool unbinds = triplet->segment_length == 0;
    const Lmr* lmr = find<Lmr>(lmr_handle);
    if (!unbinds && (lmr == nullptr || lmr->ia != rmr.ia)) return invalid_handle(Lmr::subtype);
    Ep* ep = find<Ep>(ep_handle);
    if (ep == nullptr || ep->ia != rmr.ia) return invalid_handle(Ep::subtype);
    if (exceeds(privileges, DAT_MEM_PRIV_ALL_FLAG)) return invalid_parameter(4);
    if (va_type != DAT_VA_TYPE_VA && va_type != DAT_VA_TYPE_ZB) return invalid_parameter(5);
    constexpr unsigned known = DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_UNSIGNALLED_FLAG |
                               DAT_COMPLETION_BARRIER_FENCE_FLAG;
    const bool unsignalled = has(flags, DAT_COMPLETION_UNSIGNALLED_FLAG);
    if (exceeds(flags, known) ||
        (unsignalled && !has(ep->attr.request_completion_flags, DAT_COMPLETION_UNSIGNALLED_FLAG)))
      return invalid_parameter(8);
    if (ep->pz.get() != rmr.pz.get()) return failure(DAT_PROTECTION_VIOLATION);
    // An RMR of the scope of an Endpoint is bound by one of them at a time.
    if (rmr.scope == DAT_RMR_SCOPE_EP && rmr.bound() && rmr.bound_by != ep->pair)
      return failure(DAT_INVALID_STATE);
    if (!unbinds)
      if (const DAT_RETURN fault = admit(rmr, *lmr, *triplet, privileges); fault != DAT_SUCCESS)
        return fault;
    const auto remote = static_cast<DAT_MEM_PRIV_FLAGS>(privileges & remote_privileges);
    const DAT_RETURN bound =
        bind(rmr, *ep, {unbinds ? nullptr : lmr, *triplet, remote, va_type, cookie, flags});
    if (bound == DAT_SUCCESS && context != nullptr && !unbinds) *context = rmr.rmr_context;
    return bound;
  });
}

DAT_RETURN rmr_free(DAT_RMR_HANDLE rmr_handle) {
  return call_on<Rmr>(rmr_handle, [&](Rmr& rmr) -> DAT_RETURN {
    engine().handles().destroy(rmr);
    return DAT_SUCCESS;
  });
}

}  // namespace calls

}  // namespace rnic::dat
