// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Windows of remote memory regions, for the cases that need one.
#pragma once

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

[[nodiscard]] inline DAT_RMR_PARAM query(DatBody& body, const Rmr& rmr) {
  DAT_RMR_PARAM param{};
  body.need(CALL(dat_rmr_query, rmr.get(), DAT_RMR_FIELD_ALL, &param), "no RMR query");
  return param;
}

}  // namespace suite::cases::dat
