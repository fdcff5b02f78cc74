// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How the borrowed connection works.
#include "reference_rnic/dat/borrowed_socket.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "reference_rnic/llp/tcp_connection.hpp"
#include "reference_rnic/llp/tcp_socket.hpp"

namespace rnic::dat {

namespace {

/// What using a socket changes. Both descriptors of it share this.
struct Settings {
  int mode = 0, no_delay = 0;
};

Settings settings_of(int socket) {
  Settings settings{.mode = fcntl(socket, F_GETFL)};
  socklen_t size = sizeof settings.no_delay;
  getsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &settings.no_delay, &size);
  return settings;
}

void restore(int socket, const Settings& settings) {
  fcntl(socket, F_SETFL, settings.mode);
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &settings.no_delay, sizeof settings.no_delay);
}

class BorrowedConnection final : public llp::TcpConnection {
 public:
  /// `settings` are restored when the socket is returned.
  BorrowedConnection(base::EpollLoop& loop, std::shared_ptr<BorrowedSocket> borrowed,
                     const Settings& settings)
      : TcpConnection(loop, own_descriptor(borrowed->socket), State::open),
        borrowed_(std::move(borrowed)),
        settings_(settings) {}
  ~BorrowedConnection() override {
    if (!borrowed_->kept) give_back();
  }
  BorrowedConnection(const BorrowedConnection&) = delete;
  BorrowedConnection& operator=(const BorrowedConnection&) = delete;

  Received receive(std::span<const wire::MutableBytes> targets) override {
    const Received received = TcpConnection::receive(targets);
    if (received.peer_closed) tell_down();
    return received;
  }
  std::size_t send(std::span<const wire::Bytes> pieces, bool end_segment) override {
    return given_back_ ? 0 : TcpConnection::send(pieces, end_segment);
  }
  void shutdown_send() override {
    if (borrowed_->kept)
      TcpConnection::shutdown_send();
    else
      give_back();
  }
  void reset() override {
    if (borrowed_->kept)
      TcpConnection::reset();
    else
      give_back();
  }
  // The tester must not disturb a consumer's socket.
  [[nodiscard]] bool can_disturb() const override { return false; }
  bool send_lost(wire::Bytes) override { return false; }
  bool inject(std::int64_t, wire::Bytes, llp::Ecn) override { return false; }

 private:
  static base::FileDescriptor own_descriptor(int socket) {
    base::FileDescriptor own(fcntl(socket, F_DUPFD_CLOEXEC, 0));
    fcntl(own.get(), F_SETFL, fcntl(own.get(), F_GETFL) | O_NONBLOCK);
    llp::set_no_delay(own.get());
    return own;
  }
  void on_ended() override { tell_down(); }
  void tell_down() {
    if (const auto down = std::exchange(borrowed_->down, nullptr); down && !borrowed_->kept) down();
  }
  void give_back() {
    if (std::exchange(given_back_, true)) return;
    give_up();
    restore(borrowed_->socket, settings_);
  }

  std::shared_ptr<BorrowedSocket> borrowed_;
  Settings settings_;
  bool given_back_ = false;
};

}  // namespace

std::expected<base::Address, DAT_RETURN> lendable(int socket, const base::Address& ia,
                                                  int position) {
  int type = 0;
  socklen_t size = sizeof type;
  if (getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) != 0)
    return std::unexpected(invalid_parameter(position));
  llp::SocketAddress local, remote;
  const bool connected = type == SOCK_STREAM &&
                         getsockname(socket, local.data(), &local.size) == 0 &&
                         getpeername(socket, remote.data(), &remote.size) == 0;
  if (!connected || local.address().with_port(0) != ia)
    return std::unexpected(failure(DAT_INVALID_STATE));
  return remote.address();
}

bool is_borrowed(const llp::Connection& connection) {
  return dynamic_cast<const BorrowedConnection*>(&connection) != nullptr;
}

std::unique_ptr<llp::Connection> borrow(base::EpollLoop& loop,
                                        std::shared_ptr<BorrowedSocket> borrowed) {
  const Settings settings = settings_of(borrowed->socket);
  return std::make_unique<BorrowedConnection>(loop, std::move(borrowed), settings);
}

}  // namespace rnic::dat
