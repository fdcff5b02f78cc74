// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where one end listens, and the other connects to, as people write it. C++17, for the agent's own
// build.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace suite::iut::tls {

struct Endpoint {
  std::string host;  ///< a name or a literal, without brackets; empty: none was given
  std::string port;  ///< 1 to 65535
};

/// `[HOST:]PORT`, a literal of IPv6 in brackets; nothing if it is not.
[[nodiscard]] std::optional<Endpoint> parse_endpoint(std::string_view text);

/// As `--host tls:NAME@[ADDRESS:]PORT` has it: whom to await, and where.
struct AwaitedAgent {
  std::string name;    ///< a DNS name: letters, digits, '-' and '.'
  std::string listen;  ///< of Endpoint's form
};
[[nodiscard]] std::optional<AwaitedAgent> parse_awaited_agent(std::string_view text);

[[nodiscard]] bool is_dns_name(std::string_view text);

}  // namespace suite::iut::tls
