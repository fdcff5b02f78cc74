// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A Common Service Point: a service point that is named as in the socket API, by domain, type,
// protocol and address.
#pragma once

#include "reference_rnic/dat/ia.hpp"

namespace rnic::dat {

struct Csp final : ServicePoint {
  static constexpr Kind its_kind = Kind::csp;
  static constexpr DAT_RETURN_SUBTYPE subtype = DAT_INVALID_HANDLE_CSP;

  Csp(Ia* the_ia, Evd* the_evd) : ServicePoint(its_kind, the_ia, the_evd) {}
  void requested(const access::ConnectionRequest& request) override;

  DAT_COMM comm{};
  SocketAddress address;
};

/// The communicator of every connection of this service point.
[[nodiscard]] DAT_COMM tcp_comm(base::Family family);

}  // namespace rnic::dat
