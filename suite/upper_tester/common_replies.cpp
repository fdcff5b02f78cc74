// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/common_replies.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace suite::upper_tester {

namespace {

iut::Reply not_within() { return refused("the range is not within the region", ERANGE); }

}  // namespace

iut::Reply refused(const std::string& why, int code) {
  iut::Reply reply;
  reply.outcome = iut::Outcome::failed;
  reply.code = code;
  reply.error = why;
  return reply;
}

iut::Reply unsupported(const std::string& why) {
  iut::Reply reply;
  reply.outcome = iut::Outcome::unsupported;
  reply.error = why;
  return reply;
}

iut::Reply no_such(const char* kind, iut::Handle handle) {
  return refused(std::string("there is no ") + kind + ' ' + std::to_string(handle), ENOENT);
}

iut::Reply exists(const char* kind, iut::Handle handle) {
  if (handle == 0) return refused(std::string("0 is no ") + kind, EINVAL);
  return refused(std::string("there is a ") + kind + ' ' + std::to_string(handle) + " already",
                 EEXIST);
}

iut::Reply read_memory(const Buffer& memory, const iut::ReadMemory& command) {
  if (!memory.holds(command.offset, command.length)) return not_within();
  if (!memory.readable()) return refused("the process may not read it", EACCES);
  iut::Reply reply;
  const std::byte* start = memory.data() + command.offset;
  reply.octets.emplace(start, start + command.length);
  return reply;
}

iut::Reply write_memory(const Buffer& memory, const iut::WriteMemory& command) {
  if (!memory.holds(command.offset, command.octets.size())) return not_within();
  if (!memory.writable()) return refused("the process may not write it", EACCES);
  std::copy(command.octets.begin(), command.octets.end(), memory.data() + command.offset);
  return {};
}

namespace {

/// The interface of this host that has the address; 0: none has.
std::uint32_t zone_of(const in6_addr& address) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return 0;
  std::uint32_t zone = 0;
  for (const ifaddrs* one = list; one != nullptr && zone == 0; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET6) continue;
    sockaddr_in6 own{};
    std::memcpy(&own, one->ifa_addr, sizeof own);
    if (std::memcmp(&own.sin6_addr, &address, sizeof address) == 0) zone = own.sin6_scope_id;
  }
  ::freeifaddrs(list);
  return zone;
}

}  // namespace

std::optional<sockaddr_storage> socket_address(const std::string& literal, std::uint16_t port) {
  sockaddr_storage storage{};
  sockaddr_in ipv4{};
  if (::inet_pton(AF_INET, literal.c_str(), &ipv4.sin_addr) == 1) {
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(port);
    std::memcpy(&storage, &ipv4, sizeof ipv4);
    return storage;
  }
  sockaddr_in6 ipv6{};
  if (::inet_pton(AF_INET6, literal.c_str(), &ipv6.sin6_addr) == 1) {
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(port);
    if (IN6_IS_ADDR_LINKLOCAL(&ipv6.sin6_addr)) ipv6.sin6_scope_id = zone_of(ipv6.sin6_addr);
    std::memcpy(&storage, &ipv6, sizeof ipv6);
    return storage;
  }
  return std::nullopt;
}

void share_zone(sockaddr_storage& remote, const sockaddr_storage& own) {
  if (remote.ss_family != AF_INET6 || own.ss_family != AF_INET6) return;
  sockaddr_in6 from{}, to{};
  std::memcpy(&from, &own, sizeof from);
  std::memcpy(&to, &remote, sizeof to);
  if (!IN6_IS_ADDR_LINKLOCAL(&to.sin6_addr) || to.sin6_scope_id != 0) return;
  to.sin6_scope_id = from.sin6_scope_id;
  std::memcpy(&remote, &to, sizeof to);
}

std::string host_text(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address->sa_family == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, address, sizeof ipv4);
    ::inet_ntop(AF_INET, &ipv4.sin_addr, text.data(), text.size());
  } else if (address->sa_family == AF_INET6) {
    sockaddr_in6 ipv6{};
    std::memcpy(&ipv6, address, sizeof ipv6);
    ::inet_ntop(AF_INET6, &ipv6.sin6_addr, text.data(), text.size());
  }
  return text.data();
}

}  // namespace suite::upper_tester
