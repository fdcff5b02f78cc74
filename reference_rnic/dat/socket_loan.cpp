// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The borrowed connection.
#include "reference_rnic/dat/socket_loan.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "reference_rnic/llp/tcp_socket.hpp"

namespace rnic::dat {

namespace {

class BorrowedConnection final : public llp::Connection, private llp::Connection::Observer {
 public:
  BorrowedConnection(llp::RealWorld& world, std::shared_ptr<Loan> loan)
      : loan_(std::move(loan)),
        mode_(fcntl(loan_->socket, F_GETFL)),
        tcp_(world, own_descriptor(loan_->socket), llp::TcpConnection::State::open) {}
  ~BorrowedConnection() override {
    if (!loan_->kept) give_back();
  }
  BorrowedConnection(const BorrowedConnection&) = delete;
  BorrowedConnection& operator=(const BorrowedConnection&) = delete;

  void set_observer(llp::Connection::Observer& observer) override {
    observer_ = &observer;
    tcp_.set_observer(*this);
  }
  Received receive(std::span<const wire::MutableBytes> targets) override {
    const Received received = tcp_.receive(targets);
    if (received.peer_closed) tell_down();
    return received;
  }
  std::size_t send(std::span<const wire::Bytes> pieces, bool end_segment) override {
    return given_back_ ? 0 : tcp_.send(pieces, end_segment);
  }
  void shutdown_send() override {
    if (loan_->kept)
      tcp_.shutdown_send();
    else
      give_back();
  }
  void reset() override {
    if (loan_->kept)
      tcp_.reset();
    else
      give_back();
  }
  [[nodiscard]] llp::Address local() const override { return tcp_.local(); }
  [[nodiscard]] llp::Address remote() const override { return tcp_.remote(); }
  [[nodiscard]] std::size_t emss() const override { return tcp_.emss(); }
  [[nodiscard]] std::size_t unacknowledged() const override { return tcp_.unacknowledged(); }
  [[nodiscard]] std::uint64_t data_segments_sent() const override {
    return tcp_.data_segments_sent();
  }
  [[nodiscard]] std::uint64_t data_segments_received() const override {
    return tcp_.data_segments_received();
  }
  // A consumer's socket is not the tester's to disturb.
  [[nodiscard]] bool can_disturb() const override { return false; }
  bool send_lost(wire::Bytes) override { return false; }
  bool inject(std::int64_t, wire::Bytes) override { return false; }
  [[nodiscard]] bool change_emss(std::size_t octets) override { return tcp_.change_emss(octets); }
  void pause_receiving(bool paused) override { tcp_.pause_receiving(paused); }
  void set_receive_buffer(std::size_t octets) override { tcp_.set_receive_buffer(octets); }

 private:
  /// Both descriptors share the mode, which is restored when the socket goes back.
  static llp::FileDescriptor own_descriptor(int socket) {
    llp::FileDescriptor own(fcntl(socket, F_DUPFD_CLOEXEC, 0));
    fcntl(own.get(), F_SETFL, fcntl(own.get(), F_GETFL) | O_NONBLOCK);
    llp::set_no_delay(own.get());
    return own;
  }
  void readable() override { observer_->readable(); }
  void writable() override { observer_->writable(); }
  void ended(llp::Ending ending) override {
    tell_down();
    observer_->ended(ending);
  }
  void tell_down() {
    if (const auto down = std::exchange(loan_->down, nullptr); down && !loan_->kept) down();
  }
  void give_back() {
    if (std::exchange(given_back_, true)) return;
    tcp_.give_up();
    fcntl(loan_->socket, F_SETFL, mode_);
  }

  std::shared_ptr<Loan> loan_;
  int mode_;
  bool given_back_ = false;
  llp::Connection::Observer* observer_ = nullptr;
  llp::TcpConnection tcp_;
};

}  // namespace

std::expected<llp::Address, DAT_RETURN> lendable(int socket, const llp::Address& ia, int position) {
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

std::unique_ptr<llp::Connection> borrow(llp::RealWorld& world, std::shared_ptr<Loan> loan) {
  return std::make_unique<BorrowedConnection>(world, std::move(loan));
}

}  // namespace rnic::dat
