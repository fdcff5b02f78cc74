// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Converts addresses between DAT, which passes a sockaddr, and the layers below.
#pragma once

#include <sys/socket.h>

#include <expected>

#include "base/address.hpp"
#include "reference_rnic/dat/api.hpp"

namespace rnic::dat {

/// Storage that an IA_ADDRESS_PTR may point to.
class SocketAddress {
 public:
  SocketAddress() = default;
  explicit SocketAddress(const base::Address& address);
  [[nodiscard]] DAT_IA_ADDRESS_PTR pointer() { return reinterpret_cast<sockaddr*>(&storage_); }

 private:
  sockaddr_storage storage_{};
};

/// The address that a consumer gives, including the port. For an address that DAT cannot use, the
/// return code.
[[nodiscard]] std::expected<base::Address, DAT_RETURN> read_address(const sockaddr* address);

}  // namespace rnic::dat
