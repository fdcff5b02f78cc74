// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Calls on one TCP socket: creation in a namespace, options, addresses and what the kernel knows
// about the connection.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <expected>

#include "base/file_descriptor.hpp"
#include "reference_rnic/llp/tcp_network.hpp"

namespace rnic::llp {

/// An address in the form of the socket calls.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);

  SocketAddress() = default;
  /// `zone`: the index of the interface that a link-local address belongs to.
  explicit SocketAddress(const base::Address& address, std::uint32_t zone = 0);
  [[nodiscard]] base::Address address() const;
  [[nodiscard]] std::uint32_t zone() const;
  [[nodiscard]] sockaddr* data() { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// `cannot listen on 10.77.0.1:4791: Address already in use`
[[nodiscard]] Error error_of(const char* what, const base::Address& address, int code);
[[nodiscard]] Ending ending_of(int code);

/// A non-blocking socket of the host's namespace, with the options that every socket here has.
[[nodiscard]] std::expected<base::FileDescriptor, int> open_socket(const TcpHost& host,
                                                                   base::Family family);
/// A raw socket for an IP protocol in a namespace. It needs privileges.
[[nodiscard]] std::expected<base::FileDescriptor, int> open_raw_socket(int namespace_fd,
                                                                       base::Family family,
                                                                       int protocol);
void set_no_delay(int fd);

struct TcpFacts {
  std::size_t segment_size = 0;          ///< largest payload of a segment sent now
  std::uint64_t data_segments_sent = 0;  ///< retransmissions not counted
  std::uint64_t data_segments_received = 0;
};
[[nodiscard]] TcpFacts tcp_facts(int fd);
[[nodiscard]] std::size_t octets_in_send_queue(int fd);
[[nodiscard]] int pending_error(int fd);

}  // namespace rnic::llp
