// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The JSON form of an address.
#pragma once

#include "base/address.hpp"
#include "base/record/table.hpp"

namespace base {

constexpr auto names_of(Family) { return std::array{"ipv4", "ipv6"}; }
constexpr auto table_of(const Address*) {
  return record::table("address", record::required("family", &Address::family),
                       record::required("octets", &Address::octets),
                       record::required("port", &Address::port));
}

}  // namespace base
