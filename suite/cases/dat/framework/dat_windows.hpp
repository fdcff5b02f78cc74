// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Windows of remote memory regions, for the cases that need one.
#pragma once

#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/cases/dat/framework/dat_handle_cases.hpp"

namespace suite::cases::dat {

/// An IA that states that it has no windows need not make any.
inline void need_windows(DatBody& body) {
  if (body.ia().attributes().max_rmrs == 0)
    body.stop(Verdict::not_applicable, "the IA has no RMRs: max_rmrs is 0");
}

[[nodiscard]] inline Rmr make_window(DatBody& body, const Pz& pz) {
  DAT_RMR_HANDLE handle = DAT_HANDLE_NULL;
  need_windows(body);
  body.need(CALL(dat_rmr_create, pz.get(), &handle), "no RMR");
  return Rmr(handle);
}

/// A window of a zone, which every connection of the zone can use. Binds are posted to one of its
/// endpoints.
struct ZoneWindow {
  ZoneWindow(DatBody& body, const Pz& pz, const Side& of) : rmr(make_window(body, pz)), side(of) {}
  /// Binds it, and takes the completion. Its kind is judged elsewhere.
  void bind(DatBody& body, const Lmr& lmr, DAT_LMR_TRIPLET over,
            DAT_MEM_PRIV_FLAGS privileges = DAT_MEM_PRIV_ALL_FLAG) {
    body.need(CALL(dat_rmr_bind, rmr.get(), lmr.get(), &over, privileges, DAT_VA_TYPE_VA,
                   side.ep.get(), cookie(0), DAT_COMPLETION_DEFAULT_FLAG, &context),
              "no bind");
    const DAT_EVENT event = next_event(side.requests);
    const bool good =
        event.event_number == DAT_RMR_BIND_COMPLETION_EVENT
            ? event.event_data.rmr_completion_event_data.status == DAT_RMR_BIND_SUCCESS
            : event.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS;
    if (!good) body.stop(Verdict::inconclusive, "the bind did not complete with success");
  }
  void unbind(DatBody& body, const Lmr& lmr) {
    const DAT_RMR_CONTEXT before = context;
    bind(body, lmr, lmr.triplet(0, 0));
    context = before;  // what an unbind gives out is not defined
  }
  /// Octets of a region, under the context of the window.
  [[nodiscard]] DAT_RMR_TRIPLET triplet(const Lmr& lmr, std::size_t offset,
                                        std::size_t length) const {
    DAT_RMR_TRIPLET triplet = lmr.remote(offset, length);
    triplet.rmr_context = context;
    return triplet;
  }

  Rmr rmr;
  const Side& side;
  DAT_RMR_CONTEXT context = 0;
};

[[nodiscard]] inline DAT_RMR_PARAM query(DatBody& body, const Rmr& rmr) {
  DAT_RMR_PARAM param{};
  body.need(CALL(dat_rmr_query, rmr.get(), DAT_RMR_FIELD_ALL, &param), "no RMR query");
  return param;
}

}  // namespace suite::cases::dat
