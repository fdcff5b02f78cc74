// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What lies between two hosts: the route, what size of packets passes, who answers for the address,
// and what both ends must agree on.
#pragma once

#include <string>
#include <vector>

#include "suite/doctor/finding.hpp"
#include "suite/doctor/system.hpp"

namespace suite::doctor {

struct PeerHost {
  std::string name;     ///< for people
  std::string address;  ///< where its RNIC is reached
  std::string links;    ///< what `ip -j addr show` says there; empty: not known
};

/// As `from` sees it: MTU, and whether the neighbour that answers is the peer. Nothing where both
/// are one host.
[[nodiscard]] std::vector<Finding> examine_path(const System& from, const PeerHost& to);
/// Of a host's clock against ours.
[[nodiscard]] Finding examine_clock(const System& host);
/// Whether a port mapper answers there.
[[nodiscard]] Finding examine_port_mapper(const std::string& address);

}  // namespace suite::doctor
