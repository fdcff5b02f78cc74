// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads the output of iproute2's programs with -j, without trust in its form.
#pragma once

#include <expected>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace suite::doctor {

/// The words that ask iproute2 for the route to an address. A link-local one has the interface on
/// its link (fe80::2%eth1).
[[nodiscard]] std::vector<std::string> route_question(const std::string& address);
[[nodiscard]] std::string without_zone(const std::string& address);

/// The first object of a list; null if there is none.
[[nodiscard]] nlohmann::json first_of(const std::expected<std::string, std::string>& said);

struct IpLink {
  std::string name, mac;
  std::string lower;  ///< the interface that a VLAN is on; empty: it is none, or that was not asked
  int mtu = 0;
  bool up = false;
};
/// The interface that has this address, from the output of `ip -j addr show`; with -d it says
/// what a VLAN is on.
[[nodiscard]] std::optional<IpLink> link_with(const std::string& links, const std::string& address);
/// One object of such an output.
[[nodiscard]] IpLink read_link(const nlohmann::json& link);
/// Whether what is sent over the link leaves through this interface: the link itself, what its VLAN
/// is on, or a part of its bond.
[[nodiscard]] bool is_over(const IpLink& link, const std::string& interface,
                           const std::string& links);

}  // namespace suite::doctor
