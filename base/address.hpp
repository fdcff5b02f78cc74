// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An IPv4 or IPv6 transport address.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace base {

enum class Family : std::uint8_t { ipv4, ipv6 };

struct Address {
  Family family = Family::ipv4;
  std::array<std::uint8_t, 16> octets{};  ///< the first 4 for IPv4
  std::uint16_t port = 0;                 ///< host order

  /// Parses a literal (no names, no port). The error is one line for people.
  [[nodiscard]] static std::expected<Address, std::string> parse(std::string_view literal,
                                                                 std::uint16_t port = 0);
  [[nodiscard]] std::string host() const;  ///< `10.77.0.1`, `fd77::1`
  [[nodiscard]] std::string text() const;  ///< `10.77.0.1:4791`, `[fd77::1]:4791`
  [[nodiscard]] Address with_port(std::uint16_t new_port) const;
  auto operator<=>(const Address&) const = default;
};

}  // namespace base
