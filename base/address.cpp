// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Address literals to octets and back.
#include "base/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

namespace base {

std::expected<Address, std::string> Address::parse(std::string_view literal, std::uint16_t port) {
  const std::string text(literal);  // inet_pton wants a terminating zero
  Address address;
  address.port = port;
  if (text.find('\0') == std::string::npos) {
    if (inet_pton(AF_INET, text.c_str(), address.octets.data()) == 1) return address;
    address.family = Family::ipv6;
    if (inet_pton(AF_INET6, text.c_str(), address.octets.data()) == 1) return address;
  }
  return std::unexpected(
      fmt::format("'{}' is not an address: give an IPv4 or IPv6 literal without a port", literal));
}

std::string Address::host() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(family == Family::ipv4 ? AF_INET : AF_INET6, octets.data(), text.data(), text.size());
  return text.data();
}

std::string Address::text() const {
  return family == Family::ipv4 ? fmt::format("{}:{}", host(), port)
                                : fmt::format("[{}]:{}", host(), port);
}

Address Address::with_port(std::uint16_t new_port) const {
  Address address = *this;
  address.port = new_port;
  return address;
}

}  // namespace base
