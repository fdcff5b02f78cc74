// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An address as people give it, where a link-local one names the interface of its link: fe80::2%eth1
// (RFC 4007, section 11).
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "base/address.hpp"

namespace base {

struct ZonedAddress {
  Address address;
  std::string zone;  ///< an interface of this host; empty: the address is not link-local

  /// The error is one line for people. A link-local address must have a zone, any other has none.
  [[nodiscard]] static std::expected<ZonedAddress, std::string> parse(std::string_view literal);
};

/// The interface index of a zone, in the network namespace of the caller; 0 if there is none, and
/// for an empty zone.
[[nodiscard]] unsigned zone_index(const std::string& zone);

/// fe80::/10 (RFC 4291, section 2.5.6).
[[nodiscard]] bool is_link_local(const Address& address);

}  // namespace base
