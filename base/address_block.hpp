// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A block of IPv4 addresses, 192.0.2.128/25, without its first and its last one.
#pragma once

#include <expected>
#include <string_view>

#include "base/address.hpp"

namespace base {

struct AddressBlock {
  Address first;
  unsigned count = 0;

  /// Blocks of 4 to 256 addresses (/30 to /24). The error is one line for people.
  [[nodiscard]] static std::expected<AddressBlock, std::string> parse(std::string_view text);
};

}  // namespace base
