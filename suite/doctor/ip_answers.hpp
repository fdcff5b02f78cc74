// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads the output of iproute2's programs with -j, without trust in its form.
#pragma once

#include <expected>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace suite::doctor {

/// The first object of a list; null if there is none.
[[nodiscard]] nlohmann::json first_of(const std::expected<std::string, std::string>& said);

struct IpLink {
  std::string name, mac;
  int mtu = 0;
  bool up = false;
};
/// The interface that has this address, from the output of `ip -j addr show`.
[[nodiscard]] std::optional<IpLink> link_with(const std::string& links, const std::string& address);

}  // namespace suite::doctor
