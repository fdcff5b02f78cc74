// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A Remote Memory Region: a window onto an LMR, bound and unbound by work of an Endpoint.
#pragma once

#include "reference_rnic/dat/lmr.hpp"

namespace rnic::dat {

class Rmr final : public Object {
 public:
  static constexpr Kind its_kind = Kind::rmr;
  static constexpr DAT_RETURN_SUBTYPE subtype = DAT_INVALID_HANDLE_RMR;

  Rmr(Ia* the_ia, Pz* the_pz, const verbs::WindowInfo& the_window, DAT_RMR_SCOPE the_scope)
      : Object(its_kind, the_ia), pz(the_pz), window(the_window), scope(the_scope) {}
  ~Rmr() override { static_cast<void>(ia->rnic().free_window(window.window)); }

  /// It is bound to nothing.
  void forget();
  /// The queue pair that bound it is destroyed: a window of its scope is destroyed with it, and
  /// replaced by another one.
  void outlive(verbs::QueuePairHandle pair);
  /// Bound now, as the RNIC knows: a peer may have invalidated it.
  [[nodiscard]] bool bound() const;

  Use<Pz> pz;
  verbs::WindowInfo window;
  DAT_RMR_SCOPE scope;
  // Of the latest bind.
  DAT_LMR_TRIPLET triplet{};
  DAT_MEM_PRIV_FLAGS privileges = DAT_MEM_PRIV_NONE_FLAG;
  DAT_VA_TYPE va_type = DAT_VA_TYPE_VA;
  DAT_RMR_CONTEXT rmr_context = 0;
  verbs::QueuePairHandle bound_by{};
};

}  // namespace rnic::dat
