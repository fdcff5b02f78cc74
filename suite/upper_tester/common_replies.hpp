// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Replies that the drivers of vendors' APIs share, and socket addresses from literals.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

#include "suite/iut/messages.hpp"
#include "suite/upper_tester/buffer.hpp"

namespace suite::upper_tester {

[[nodiscard]] iut::Reply refused(const std::string& why, int code);
[[nodiscard]] iut::Reply unsupported(const std::string& why);
[[nodiscard]] iut::Reply no_such(const char* kind, iut::Handle handle);
[[nodiscard]] iut::Reply exists(const char* kind, iut::Handle handle);
/// The answers to commands about the memory of a region, whose registration does not matter.
[[nodiscard]] iut::Reply read_memory(const Buffer& memory, const iut::ReadMemory& command);
[[nodiscard]] iut::Reply write_memory(const Buffer& memory, const iut::WriteMemory& command);

/// A literal with a port as a socket address, and back. Nothing if it is no literal. A link-local
/// address of this host gets its interface.
[[nodiscard]] std::optional<sockaddr_storage> socket_address(const std::string& literal,
                                                             std::uint16_t port);
/// A link-local address without an interface gets that of our own link-local address.
void share_zone(sockaddr_storage& remote, const sockaddr_storage& own);
[[nodiscard]] std::string host_text(const sockaddr* address);

}  // namespace suite::upper_tester
