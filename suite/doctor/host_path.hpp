// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Checks the path between two hosts: the route, the size of packets that pass, which host answers
// for the address, and what both ends must have in common.
#pragma once

#include <string>
#include <vector>

#include "suite/doctor/finding.hpp"
#include "suite/doctor/system.hpp"

namespace suite::doctor {

struct PeerHost {
  std::string name;     ///< for people
  std::string address;  ///< where its RNIC is reached
  std::string links;    ///< the output of `ip -j addr show` there; empty: not known
};

/// Whether a packet of this size, in octets, passes to the address unfragmented and is answered.
[[nodiscard]] bool passes(const System& from, const std::string& address, int packet);
/// As `from` sees it: MTU, and whether the neighbour that answers is the peer. Nothing if both are
/// one host.
[[nodiscard]] std::vector<Finding> examine_path(const System& from, const PeerHost& to);
/// A host's clock compared with ours.
[[nodiscard]] Finding examine_clock(const System& host);
/// Whether a port mapper answers at the address.
[[nodiscard]] Finding examine_port_mapper(const std::string& address);

}  // namespace suite::doctor
