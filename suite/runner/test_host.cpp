// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/test_host.hpp"

#include <fcntl.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "base/zoned_address.hpp"

namespace suite::runner {

namespace {

using base::Address;
using base::FileDescriptor;

template <typename Value>
using Result = std::expected<Value, std::string>;

// An address of a side, or the unspecified address if the side has none.
Result<Address> address(const std::string& literal, base::Family family) {
  if (!literal.empty()) return Address::parse(literal);
  Address none;
  none.family = family;
  return none;
}

}  // namespace

Result<std::vector<Address>> further_addresses(const HostSetup& words) {
  std::vector<Address> further;
  for (const std::string& literal : {words.further_ipv4, words.further_ipv6}) {
    if (literal.empty()) continue;
    const auto parsed = Address::parse(literal);
    if (!parsed) return std::unexpected(parsed.error());
    further.push_back(*parsed);
  }
  return further;
}

Result<TestHost> make_test_host(const HostSetup& words) {
  TestHost host;
  const auto ipv4 = address(words.ipv4, base::Family::ipv4),
             ipv6 = address(words.ipv6, base::Family::ipv6);
  if (!ipv4) return std::unexpected(ipv4.error());
  if (!ipv6) return std::unexpected(ipv6.error());
  host.tcp.ipv4 = *ipv4;
  host.tcp.ipv6 = *ipv6;
  if (words.spare_count > 0) {
    const auto spare = Address::parse(words.spare_ipv4);
    if (!spare) return std::unexpected(spare.error());
    host.tcp.spare_ipv4 = *spare;
    host.tcp.spare_count = words.spare_count;
  }
  host.tcp.zone = base::zone_index(words.zone);
  if (words.max_segment > 0) host.tcp.max_segment = words.max_segment;
  if (words.network_namespace.empty()) return host;
  host.network_namespace =
      FileDescriptor(::open(words.network_namespace.c_str(), O_RDONLY | O_CLOEXEC));
  if (!host.network_namespace) {
    return std::unexpected(fmt::format("cannot open the network namespace {}: {}",
                                       words.network_namespace,
                                       std::generic_category().message(errno)));
  }
  host.tcp.namespace_fd = host.network_namespace.get();
  return host;
}

}  // namespace suite::runner
