// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A Connection Request that waits for the consumer's decision.
#pragma once

#include <vector>

#include "reference_rnic/dat/ia.hpp"

namespace rnic::dat {

class Cr final : public Object {
 public:
  static constexpr Kind its_kind = Kind::cr;
  static constexpr DAT_RETURN_SUBTYPE subtype = DAT_INVALID_HANDLE_CR;

  Cr(Ia* the_ia, const access::ConnectionRequest& request, Ep* the_ep)
      : Object(its_kind, the_ia),
        connection(request.connection),
        local(request.local),
        remote(request.remote),
        private_data(request.private_data),
        depths(request.depths),
        ep(the_ep),
        local_storage(local),
        remote_storage(remote) {}
  ~Cr() override;

  access::ConnectionId connection;
  base::Address local, remote;
  std::vector<std::byte> private_data;
  std::optional<access::PeerDepths> depths;
  Ep* ep;  ///< the only one that can accept it, or null
  SocketAddress local_storage, remote_storage;
  bool decided = false;
};

/// Makes a CR of a request and reports it to the service point's EVD. A full EVD is a full backlog:
/// the request is then refused, as it is if the Endpoint cannot take it.
void announce(ServicePoint& point, const access::ConnectionRequest& request, Ep* ep);

}  // namespace rnic::dat
