// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/verbs/connection_rules.hpp"

#include <cerrno>

#include "suite/upper_tester/common_replies.hpp"

namespace suite::upper_tester::verbs {

std::optional<iut::Reply> too_much(const iut::ConnectParameters& parameters,
                                   const std::string& taker) {
  if (parameters.private_data.size() > static_cast<std::size_t>(max_private_data))
    return refused(taker + " takes at most 255 octets of private data", EINVAL);
  for (const auto& depth : {parameters.ird, parameters.ord})
    if (depth && (*depth < 0 || *depth > max_read_depth))
      return refused(taker + " takes read depths from 0 to 254", EINVAL);
  return std::nullopt;
}

std::optional<sockaddr_storage> own_address(const DriverOptions& options, int family) {
  for (const std::string& literal : options.addresses)
    if (const auto address = socket_address(literal, 0); address && address->ss_family == family)
      return address;
  return std::nullopt;
}

std::string address_to_listen_on(const iut::Listen& command, const DriverOptions& options) {
  if (!command.address.empty()) return command.address;
  const bool ipv6 = command.family == "ipv6";
  if (const auto own = own_address(options, ipv6 ? AF_INET6 : AF_INET))
    return host_text(reinterpret_cast<const sockaddr*>(&*own));
  return ipv6 ? "::" : "0.0.0.0";
}

bool is_any(const std::string& literal) { return literal == "0.0.0.0" || literal == "::"; }

}  // namespace suite::upper_tester::verbs
