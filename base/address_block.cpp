// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/address_block.hpp"

#include <charconv>

#include <fmt/format.h>

namespace base {

std::expected<AddressBlock, std::string> AddressBlock::parse(std::string_view text) {
  const auto wrong = [text](std::string_view why) {
    return std::unexpected(fmt::format("'{}' {}", text, why));
  };
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return wrong("is no block of addresses: write 192.0.2.128/25");
  const std::string_view digits = text.substr(slash + 1);
  unsigned prefix = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
  if (error != std::errc() || end != digits.data() + digits.size() || prefix < 24 || prefix > 30)
    return wrong("has no prefix length from 24 to 30");
  auto first = Address::parse(text.substr(0, slash));
  if (!first || first->family != Family::ipv4) return wrong("does not begin with an IPv4 address");
  const unsigned size = 1U << (32 - prefix);
  if (first->octets[3] % size != 0)
    return wrong("does not begin at the first address of the block");
  ++first->octets[3];
  return AddressBlock{*first, size - 2};
}

}  // namespace base
