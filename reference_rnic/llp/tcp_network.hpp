// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// TCP through kernel sockets, in the network namespace and with the addresses of one host.
#pragma once

#include <cstdint>
#include <optional>

#include "base/epoll_loop.hpp"
#include "reference_rnic/llp/network.hpp"
#include "reference_rnic/llp/observer_caller.hpp"
#include "reference_rnic/llp/sequence_numbers.hpp"

namespace rnic::llp {

struct TcpHost {
  std::optional<int>
      namespace_fd;    ///< open fd of a network namespace; sockets are created in it. Not owned.
  base::Address ipv4;  ///< ports are ignored
  base::Address ipv6;
  std::uint32_t zone = 0;      ///< the interface index of link-local addresses, its own and others
  base::Address spare_ipv4{};  ///< the first of those that nothing but use_spare_address() uses
  unsigned spare_count = 0;    ///< how many there are
  std::optional<std::size_t>
      max_segment;  ///< TCP_MAXSEG where the route's own would be too large (loopback)
  std::optional<std::size_t>
      receive_buffer;  ///< SO_RCVBUF, which also bounds the window that is ever offered
  ObserverCaller observer_caller{};
};

/// A connection that is destroyed without reset() first discards what the peer still sends until
/// its FIN, for a second at most, so that the kernel's answer to unread data (RST) cannot overtake
/// what was sent last.
///
/// Creating a socket in another namespace switches the calling thread there and back; throws
/// std::system_error if it cannot return.
class TcpNetwork final : public Network, public SequenceNumbers {
 public:
  TcpNetwork(base::EpollLoop& loop, TcpHost host) : loop_(loop), host_(host) {}
  [[nodiscard]] std::expected<std::unique_ptr<Listener>, Error> listen(
      const base::Address& local, Listener::Observer& observer) override;
  [[nodiscard]] std::expected<std::unique_ptr<Connection>, Error> connect(
      const base::Address& remote, Connection::Observer& observer) override;
  [[nodiscard]] base::Address address(base::Family family) const override {
    if (family == base::Family::ipv6) return host_.ipv6;
    return spare_.value_or(host_.ipv4);
  }
  void limit_segments(std::optional<std::size_t> octets) override { segment_limit_ = octets; }
  /// IPv4 only; a different one each time and in each process.
  [[nodiscard]] bool use_spare_address() override;
  void use_usual_address() override { spare_.reset(); }
  [[nodiscard]] bool begin_at(std::optional<std::uint32_t> number) override;

 private:
  base::EpollLoop& loop_;
  /// The host with the limit that applies now.
  [[nodiscard]] TcpHost limited_host() const;

  TcpHost host_;
  std::optional<std::size_t> segment_limit_;
  std::optional<base::Address> spare_;  ///< the one in use
  unsigned spares_used_ = 0;
  std::optional<std::uint32_t> first_number_;
};

}  // namespace rnic::llp
