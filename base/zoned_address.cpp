// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/zoned_address.hpp"

#include <fmt/format.h>
#include <net/if.h>

namespace base {

bool is_link_local(const Address& address) {
  return address.family == Family::ipv6 && address.octets[0] == 0xfe &&
         (address.octets[1] & 0xc0) == 0x80;
}

std::expected<ZonedAddress, std::string> ZonedAddress::parse(std::string_view literal) {
  const std::size_t percent = literal.find('%');
  const auto address = Address::parse(literal.substr(0, percent));
  if (!address) return std::unexpected(address.error());
  ZonedAddress result{*address, {}};
  if (percent != literal.npos) result.zone = literal.substr(percent + 1);
  if (is_link_local(*address) && result.zone.empty())
    return std::unexpected(
        fmt::format("'{}' is a link-local address: name this host's interface on its link too, as "
                    "in {}%eth1",
                    literal, address->host()));
  if (!is_link_local(*address) && percent != literal.npos)
    return std::unexpected(
        fmt::format("'{}': only a link-local address (fe80::...) has an interface", literal));
  return result;
}

unsigned zone_index(const std::string& zone) {
  return zone.empty() ? 0 : ::if_nametoindex(zone.c_str());
}

}  // namespace base
