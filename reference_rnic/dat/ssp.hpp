// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A Socket Service Point: one connection request may arrive, on a socket that the consumer lends.
#pragma once

#include "reference_rnic/dat/borrowed_socket.hpp"
#include "reference_rnic/dat/ep.hpp"

namespace rnic::dat {

struct Ssp final : ServicePoint {
  static constexpr Kind its_kind = Kind::ssp;
  static constexpr DAT_RETURN_SUBTYPE subtype = DAT_INVALID_HANDLE1;

  Ssp(Ia* the_ia, Evd* the_evd, Ep& the_ep, std::shared_ptr<BorrowedSocket> the_borrowed)
      : ServicePoint(its_kind, the_ia, the_evd), ep(&the_ep), borrowed(std::move(the_borrowed)) {}
  ~Ssp() override;
  void requested(const access::ConnectionRequest& request) override;
  /// The socket is disconnected, without a request.
  void socket_down();

  Ep* ep;  ///< null once the request has come
  std::shared_ptr<BorrowedSocket> borrowed;
  bool operational = true;
};

}  // namespace rnic::dat
