// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A Reserved Service Point: a port for one connection request, and the one Endpoint that can
// accept it.
#pragma once

#include "reference_rnic/dat/ep.hpp"

namespace rnic::dat {

struct Rsp final : ServicePoint {
  static constexpr Kind its_kind = Kind::rsp;
  static constexpr DAT_RETURN_SUBTYPE subtype = DAT_INVALID_HANDLE_RSP;

  Rsp(Ia* the_ia, Evd* the_evd, Ep& the_ep)
      : ServicePoint(its_kind, the_ia, the_evd), ep(&the_ep) {}
  ~Rsp() override;
  /// The one request: the port is released, the handle remains valid until it is freed.
  void requested(const access::ConnectionRequest& request) override;

  Ep* ep;  ///< null once the request has come
};

}  // namespace rnic::dat
