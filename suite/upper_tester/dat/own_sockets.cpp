// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/dat/own_sockets.hpp"

#include <fcntl.h>
#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace suite::upper_tester::dat {
namespace {

constexpr int waiting_connections = 128;

socklen_t size_of(const sockaddr& address) {
  return address.sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

sockaddr_storage with_port(const sockaddr& address, std::uint16_t port) {
  sockaddr_storage copy{};
  std::memcpy(&copy, &address, size_of(address));
  // The port is at the same place in both families.
  reinterpret_cast<sockaddr_in&>(copy).sin_port = htons(port);
  return copy;
}

/// A socket at our own address; without a descriptor if errno says why.
base::FileDescriptor bound(const sockaddr& own, std::uint16_t port) {
  base::FileDescriptor made(::socket(own.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const sockaddr_storage at = with_port(own, port);
  if (made && ::bind(made.get(), reinterpret_cast<const sockaddr*>(&at), size_of(own)) != 0)
    return {};
  return made;
}

}  // namespace

std::string OwnSockets::start(int also) {
  also_ = also;
  watched_ = base::FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{EPOLLIN, {}};
  event.data.fd = also;
  if (watched_ && ::epoll_ctl(watched_.get(), EPOLL_CTL_ADD, also, &event) == 0) return {};
  return std::string("epoll: ") + std::strerror(errno);
}

int OwnSockets::add(base::FileDescriptor socket, unsigned events) {
  epoll_event event{events, {}};
  event.data.fd = socket.get();
  if (events != 0 && ::epoll_ctl(watched_.get(), EPOLL_CTL_ADD, socket.get(), &event) != 0)
    return -1;
  const int fd = socket.get();
  open_[fd] = std::move(socket);
  return fd;
}

int OwnSockets::listen(const sockaddr& own, std::uint16_t& port) {
  base::FileDescriptor made = bound(own, port);
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  if (!made || ::listen(made.get(), waiting_connections) != 0 ||
      ::getsockname(made.get(), reinterpret_cast<sockaddr*>(&at), &size) != 0)
    return -1;
  port = ntohs(reinterpret_cast<sockaddr_in&>(at).sin_port);
  return add(std::move(made), EPOLLIN);
}

int OwnSockets::connect(const sockaddr& own, const sockaddr_storage& remote) {
  base::FileDescriptor made = bound(own, 0);
  const auto* to = reinterpret_cast<const sockaddr*>(&remote);
  if (!made || (::connect(made.get(), to, size_of(*to)) != 0 && errno != EINPROGRESS)) return -1;
  return add(std::move(made), EPOLLOUT);
}

int OwnSockets::accept(int listener) {
  base::FileDescriptor made(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  return made ? add(std::move(made), 0) : -1;
}

std::vector<int> OwnSockets::ready() const {
  std::array<epoll_event, 64> events;
  const int count = ::epoll_wait(watched_.get(), events.data(), events.size(), 0);
  std::vector<int> found;
  for (int i = 0; i < count; ++i) {
    const int fd = events[static_cast<std::size_t>(i)].data.fd;
    if (fd != also_) found.push_back(fd);
  }
  return found;
}

void OwnSockets::hand_over(int socket) {
  static_cast<void>(::epoll_ctl(watched_.get(), EPOLL_CTL_DEL, socket, nullptr));
  static_cast<void>(::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) & ~O_NONBLOCK));
}

void OwnSockets::close(int socket) { open_.erase(socket); }

}  // namespace suite::upper_tester::dat
