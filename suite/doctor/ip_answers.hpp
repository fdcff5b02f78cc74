// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads the output of iproute2's programs with -j. Its form is theirs, and differs between versions:
// a member of another type than expected counts as missing, so record tables, which refuse one, do
// not fit here.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace suite::doctor {

/// The words that ask iproute2 for the route to an address. A link-local one has the interface on
/// its link (fe80::2%eth1).
[[nodiscard]] std::vector<std::string> route_question(const std::string& address);
[[nodiscard]] std::string without_zone(const std::string& address);

/// The output of a program, or why there is none.
using Answer = std::expected<std::string, std::string>;

/// Empty members: iproute2 does not say.
struct IpRoute {
  std::string interface, type, gateway;
};
/// The first route that `ip -j route get` names.
[[nodiscard]] std::optional<IpRoute> first_route(const Answer& said);
/// The MAC address of the first neighbour that `ip -j neigh show` names; empty: none.
[[nodiscard]] std::string first_neighbour(const Answer& said);

struct IpLink {
  std::string name, mac;
  std::string lower;  ///< the interface that a VLAN is on; empty: it is none, or that was not asked
  int mtu = 0;
  bool up = false;
};
/// The first interface that `ip -j link show` names; without a name if there is none.
[[nodiscard]] IpLink first_link(const Answer& said);
/// The interface that has this address, from the output of `ip -j addr show`; with -d it says
/// what a VLAN is on.
[[nodiscard]] std::optional<IpLink> link_with(const std::string& links, const std::string& address);
/// Whether what is sent over the link leaves through this interface: the link itself, what its VLAN
/// is on, or a part of its bond.
[[nodiscard]] bool is_over(const IpLink& link, const std::string& interface,
                           const std::string& links);

}  // namespace suite::doctor
