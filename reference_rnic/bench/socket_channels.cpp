// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The contenders without an RNIC: raw TCP, and the floor program.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include "base/file_descriptor.hpp"
#include "reference_rnic/bench/channels.hpp"
#include "reference_rnic/wire/crc32c.hpp"

namespace rnic::bench {
namespace {

void set(int fd, int level, int option, int value) {
  need(setsockopt(fd, level, option, &value, sizeof value) == 0, "setsockopt");
}

base::FileDescriptor stream_socket() {
  base::FileDescriptor fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  need(static_cast<bool>(fd), "socket");
  set(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  set(fd.get(), IPPROTO_TCP, TCP_MAXSEG, static_cast<int>(max_segment));
  set(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  return fd;
}

sockaddr_in address_of(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Non-blocking sockets; who cannot go on waits in epoll, or tries again at once.
class Sockets : public Channels {
 public:
  explicit Sockets(const Setup& setup)
      : setup_(setup), memory_(setup.size * setup.batch), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    const sockaddr_in address = address_of(setup.port);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    base::FileDescriptor listener = stream_socket();
    if (setup.serves)
      need(bind(listener.get(), generic, sizeof address) == 0 &&
               listen(listener.get(), SOMAXCONN) == 0,
           "listen");
    for (unsigned i = 0; i < setup.connections; ++i) {
      base::FileDescriptor fd =
          setup.serves
              ? base::FileDescriptor(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC))
              : connected(generic);
      set(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
      epoll_event event{.events = EPOLLIN, .data = {.u32 = i}};
      need(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd.get(), &event) == 0, "epoll_ctl");
      sockets_.push_back(std::move(fd));
    }
  }
  void post(unsigned connection, Operation operation, std::size_t size, unsigned count) override {
    if (operation != Operation::read) return send(connection, size, count);
    send(connection, 1, 1);
    receive(connection, size, count);
  }
  void flush() override {}
  void serve(unsigned connection, Operation operation, std::size_t size, unsigned count) override {
    if (operation != Operation::read) return receive(connection, size, count);
    receive(connection, 1, 1);
    send(connection, size, count);
  }

 protected:
  virtual void send(unsigned connection, std::size_t size, unsigned count) = 0;

  /// False: nothing could be done, and it is to be tried again.
  [[nodiscard]] static bool progress(ssize_t count) {
    need(count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR)), "the peer has gone");
    return count > 0;
  }
  void await_readable() {
    epoll_event event{};
    if (!setup_.spins) epoll_wait(epoll_.get(), &event, 1, -1);
  }
  void await_writable(unsigned connection) {
    pollfd watched{sockets_[connection].get(), POLLOUT, 0};
    if (!setup_.spins) poll(&watched, 1, -1);
  }
  void send_all(unsigned connection, std::span<iovec> pieces, bool ends) {
    while (!pieces.empty()) {
      msghdr message{};
      message.msg_iov = pieces.data();
      message.msg_iovlen = pieces.size();
      const ssize_t sent = sendmsg(sockets_[connection].get(), &message,
                                   MSG_DONTWAIT | MSG_NOSIGNAL | (ends ? MSG_EOR : 0));
      if (!progress(sent)) {
        await_writable(connection);
        continue;
      }
      std::size_t left = static_cast<std::size_t>(sent);
      while (!pieces.empty() && left >= pieces.front().iov_len) {
        left -= pieces.front().iov_len;
        pieces = pieces.subspan(1);
      }
      if (left == 0) continue;
      pieces.front().iov_base = static_cast<std::byte*>(pieces.front().iov_base) + left;
      pieces.front().iov_len -= left;
    }
  }
  [[nodiscard]] std::size_t receive_some(unsigned connection, std::byte* to, std::size_t room) {
    for (;;) {
      const ssize_t count = recv(sockets_[connection].get(), to, room, MSG_DONTWAIT);
      if (progress(count)) return static_cast<std::size_t>(count);
      await_readable();
    }
  }

  Setup setup_;
  std::vector<std::byte> memory_;

 private:
  static base::FileDescriptor connected(const sockaddr* to) {
    base::FileDescriptor fd = stream_socket();
    need(connect(fd.get(), to, sizeof(sockaddr_in)) == 0, "connect");
    return fd;
  }

  base::FileDescriptor epoll_;
  std::vector<base::FileDescriptor> sockets_;
};

class RawTcp final : public Sockets {
 public:
  using Sockets::Sockets;
  void send(unsigned connection, std::size_t size, unsigned count) override {
    iovec piece{memory_.data(), size * count};
    send_all(connection, {&piece, 1}, false);
  }
  void receive(unsigned connection, std::size_t size, unsigned count) override {
    for (std::size_t left = size * count; left > 0;)
      left -= receive_some(connection, memory_.data(), std::min(left, memory_.size()));
  }
};

/// Each segment is what an FPDU of a tagged message is: length and header, payload, CRC.
class FloorProgram final : public Sockets {
 public:
  explicit FloorProgram(const Setup& setup) : Sockets(setup), inbound_(setup.connections) {}
  void send(unsigned connection, std::size_t size, unsigned count) override {
    for (std::size_t sent = 0, total = size * count; sent < total;) {
      std::size_t payload = 0;
      units_.clear();
      pieces_.clear();
      units_.reserve(at_once);
      for (; sent < total && units_.size() < at_once; sent += payload) {
        payload = std::min(size - sent % size, largest_payload);
        add(memory_.data() + sent, payload);
      }
      send_all(connection, pieces_, true);
    }
  }
  void receive(unsigned connection, std::size_t size, unsigned count) override {
    Inbound& in = inbound_[connection];
    for (std::size_t got = 0; got < size * count;) {
      if (const auto payload = take(in, got)) {
        got += payload;
        continue;
      }
      std::memmove(in.scratch.data(), in.scratch.data() + in.begin, in.end - in.begin);
      in.end -= in.begin;
      in.begin = 0;
      in.end += receive_some(connection, in.scratch.data() + in.end, in.scratch.size() - in.end);
    }
  }

 private:
  static constexpr std::size_t head = 16, trailer = 4, at_once = 28;
  static constexpr std::size_t largest_payload = max_segment - 12 - head - trailer - 4;
  struct Unit {
    std::array<std::byte, head> header{};
    std::array<std::byte, trailer> crc{};
  };
  struct Inbound {
    std::vector<std::byte> scratch = std::vector<std::byte>(std::size_t{256} * 1024);
    std::size_t begin = 0, end = 0;
  };
  static std::array<std::byte, trailer> crc_of(wire::Bytes first, wire::Bytes second) {
    wire::Crc32c crc;
    crc.update(first);
    crc.update(second);
    return crc.trailer();
  }
  void add(std::byte* payload, std::size_t size) {
    Unit& unit = units_.emplace_back();
    const auto length = static_cast<std::uint32_t>(size);
    std::memcpy(unit.header.data(), &length, sizeof length);
    unit.crc = crc_of(unit.header, wire::Bytes(payload, size));
    pieces_.push_back({unit.header.data(), head});
    pieces_.push_back({payload, size});
    pieces_.push_back({unit.crc.data(), trailer});
  }
  /// Octets of a whole segment that were put into place; 0: it is not there yet.
  std::size_t take(Inbound& in, std::size_t at) {
    const wire::Bytes waiting = wire::Bytes(in.scratch).subspan(in.begin, in.end - in.begin);
    std::uint32_t length = 0;
    if (waiting.size() < head) return 0;
    std::memcpy(&length, waiting.data(), sizeof length);
    if (waiting.size() < head + length + trailer) return 0;
    const auto crc = crc_of(waiting.first(head), waiting.subspan(head, length));
    need(std::memcmp(crc.data(), waiting.data() + head + length, trailer) == 0, "CRC");
    std::memcpy(memory_.data() + at, waiting.data() + head, length);
    in.begin += head + length + trailer;
    return length;
  }

  std::vector<Inbound> inbound_;
  std::vector<Unit> units_;
  std::vector<iovec> pieces_;
};

}  // namespace

std::unique_ptr<Channels> raw_tcp(const Setup& setup) { return std::make_unique<RawTcp>(setup); }
std::unique_ptr<Channels> floor_program(const Setup& setup) {
  return std::make_unique<FloorProgram>(setup);
}

}  // namespace rnic::bench
