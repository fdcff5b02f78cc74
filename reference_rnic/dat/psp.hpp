// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A Public Service Point: a port on which any number of connection requests may arrive.
#pragma once

#include "reference_rnic/dat/ia.hpp"

namespace rnic::dat {

struct Psp final : ServicePoint {
  static constexpr Kind its_kind = Kind::psp;
  static constexpr DAT_RETURN_SUBTYPE subtype = DAT_INVALID_HANDLE_PSP;

  Psp(Ia* the_ia, Evd* the_evd, DAT_PSP_FLAGS the_flags)
      : ServicePoint(its_kind, the_ia, the_evd), flags(the_flags) {}
  void requested(const access::ConnectionRequest& request) override;

  DAT_PSP_FLAGS flags;  ///< who makes the Endpoints
};

}  // namespace rnic::dat
