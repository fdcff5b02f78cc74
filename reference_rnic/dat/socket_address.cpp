// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// sockaddr to Address and back.
#include "reference_rnic/dat/socket_address.hpp"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace rnic::dat {

SocketAddress::SocketAddress(const base::Address& address) {
  if (address.family == base::Family::ipv4) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(address.port);
    std::memcpy(&in.sin_addr, address.octets.data(), sizeof in.sin_addr);
    std::memcpy(&storage_, &in, sizeof in);
  } else {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(address.port);
    std::memcpy(&in.sin6_addr, address.octets.data(), sizeof in.sin6_addr);
    std::memcpy(&storage_, &in, sizeof in);
  }
}

namespace {

/// Multicast, broadcast and no address at all name no IA.
bool names_an_ia(const base::Address& address) {
  const bool none = std::ranges::all_of(address.octets, [](auto octet) { return octet == 0; });
  const bool ipv4 = address.family == base::Family::ipv4;
  return !none && (ipv4 ? address.octets[0] < 224 : address.octets[0] != 0xFF);
}

}  // namespace

std::expected<base::Address, DAT_RETURN> read_address(const sockaddr* address) {
  base::Address read;
  if (address->sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, address, sizeof in);
    std::memcpy(read.octets.data(), &in.sin_addr, sizeof in.sin_addr);
    read.port = ntohs(in.sin_port);
  } else if (address->sa_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, address, sizeof in);
    read.family = base::Family::ipv6;
    std::memcpy(read.octets.data(), &in.sin6_addr, sizeof in.sin6_addr);
    read.port = ntohs(in.sin6_port);
  } else {
    return std::unexpected(failure(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_MALFORMED));
  }
  if (!names_an_ia(read))
    return std::unexpected(failure(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED));
  return read;
}

}  // namespace rnic::dat
