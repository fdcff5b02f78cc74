// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Socket calls, and the visit to another network namespace that makes a socket there.
#include "reference_rnic/llp/tcp_socket.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/sockios.h>
#include <linux/tcp.h>  // its tcp_info counts data segments; that of <netinet/tcp.h> does not
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/zoned_address.hpp"

namespace rnic::llp {

SocketAddress::SocketAddress(const base::Address& address, std::uint32_t zone) {
  if (address.family == base::Family::ipv4) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(address.port);
    std::memcpy(&in.sin_addr, address.octets.data(), sizeof(in.sin_addr));
    std::memcpy(&storage, &in, size = sizeof(in));
  } else {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(address.port);
    std::memcpy(&in.sin6_addr, address.octets.data(), sizeof(in.sin6_addr));
    if (base::is_link_local(address)) in.sin6_scope_id = zone;
    std::memcpy(&storage, &in, size = sizeof(in));
  }
}

base::Address SocketAddress::address() const {
  base::Address address;
  if (storage.ss_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, &storage, sizeof(in));
    address.family = base::Family::ipv6;
    address.port = ntohs(in.sin6_port);
    std::memcpy(address.octets.data(), &in.sin6_addr, sizeof(in.sin6_addr));
  } else {
    sockaddr_in in{};
    std::memcpy(&in, &storage, sizeof(in));
    address.port = ntohs(in.sin_port);
    std::memcpy(address.octets.data(), &in.sin_addr, sizeof(in.sin_addr));
  }
  return address;
}

std::uint32_t SocketAddress::zone() const {
  if (storage.ss_family != AF_INET6) return 0;
  sockaddr_in6 in{};
  std::memcpy(&in, &storage, sizeof(in));
  return in.sin6_scope_id;
}

Error error_of(const char* what, const base::Address& address, int code) {
  return {code, fmt::format("cannot {} {}: {}", what, address.text(),
                            std::generic_category().message(code))};
}

Ending ending_of(int code) {
  switch (code) {
    case ECONNREFUSED:
      return Ending::refused;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case EADDRNOTAVAIL:
    case ENETDOWN:
      return Ending::unreachable;
    case ETIMEDOUT:
      return Ending::timed_out;
    case ECONNRESET:
    case EPIPE:
      return Ending::reset;  // a reset after the peer's FIN is EPIPE in Linux
    default:
      return Ending::failed;
  }
}

const char* name(Ending ending) {
  switch (ending) {
    case Ending::refused:
      return "refused";
    case Ending::unreachable:
      return "unreachable";
    case Ending::timed_out:
      return "timed out";
    case Ending::reset:
      return "reset";
    case Ending::failed:
      return "failed";
  }
  return "?";
}

namespace {

/// The thread's time in another network namespace.
class NamespaceVisit {
 public:
  explicit NamespaceVisit(std::optional<int> target) {
    if (!target) return;
    home_ = base::FileDescriptor(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    if (!home_ || setns(*target, CLONE_NEWNET) != 0) {
      error_ = errno;
      home_.close();
    }
  }
  NamespaceVisit(const NamespaceVisit&) = delete;
  NamespaceVisit& operator=(const NamespaceVisit&) = delete;
  [[nodiscard]] int error() const { return error_; }
  /// A thread that stayed in it would open everything else there too: it cannot continue.
  void return_home() {
    if (home_ && setns(home_.get(), CLONE_NEWNET) != 0)
      throw std::system_error(errno, std::generic_category(),
                              "cannot return to the own network namespace");
    home_.close();
  }

 private:
  base::FileDescriptor home_;
  int error_ = 0;
};

void set_option(int fd, int level, int option, int value) {
  // If the kernel refuses an option, the socket still works; what depends on the option is verified
  // where it matters.
  static_cast<void>(setsockopt(fd, level, option, &value, sizeof(value)));
}

}  // namespace

std::expected<base::FileDescriptor, int> open_socket(const TcpHost& host, base::Family family) {
  NamespaceVisit visit(host.namespace_fd);
  if (visit.error() != 0) return std::unexpected(visit.error());
  base::FileDescriptor fd(socket(family == base::Family::ipv4 ? AF_INET : AF_INET6,
                                 SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  const int code = errno;
  visit.return_home();
  if (!fd) return std::unexpected(code);
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (family == base::Family::ipv6) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
  if (host.max_segment)
    set_option(fd.get(), IPPROTO_TCP, TCP_MAXSEG, static_cast<int>(*host.max_segment));
  if (host.receive_buffer)
    set_option(fd.get(), SOL_SOCKET, SO_RCVBUF, static_cast<int>(*host.receive_buffer));
  set_no_delay(fd.get());
  return fd;
}

std::expected<base::FileDescriptor, int> open_raw_socket(int namespace_fd, base::Family family,
                                                         int protocol) {
  NamespaceVisit visit(namespace_fd);
  if (visit.error() != 0) return std::unexpected(visit.error());
  base::FileDescriptor fd(
      socket(family == base::Family::ipv4 ? AF_INET : AF_INET6, SOCK_RAW | SOCK_CLOEXEC, protocol));
  const int code = errno;
  visit.return_home();
  if (!fd) return std::unexpected(code);
  return fd;
}

void set_no_delay(int fd) { set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1); }

TcpFacts tcp_facts(int fd) {
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  return {info.tcpi_snd_mss,
          info.tcpi_data_segs_out - std::min(info.tcpi_data_segs_out, info.tcpi_total_retrans),
          info.tcpi_data_segs_in};
}

std::size_t octets_in_send_queue(int fd) {
  int count = 0;
  return ioctl(fd, SIOCOUTQ, &count) == 0 && count > 0 ? static_cast<std::size_t>(count) : 0;
}

int pending_error(int fd) {
  int code = 0;
  socklen_t size = sizeof(code);
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno;
}

}  // namespace rnic::llp
