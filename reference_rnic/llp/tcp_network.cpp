// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Listening and connecting over kernel TCP.
#include "reference_rnic/llp/tcp_network.hpp"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "reference_rnic/llp/tcp_connection.hpp"
#include "reference_rnic/llp/tcp_disturbance.hpp"
#include "reference_rnic/llp/tcp_socket.hpp"

namespace rnic::llp {

namespace {

constexpr std::size_t smallest_segment_limit = 88;  ///< TCP_MAXSEG takes no less

class TcpListener final : public Listener {
 public:
  TcpListener(base::EpollLoop& loop, base::FileDescriptor fd, bool own_path, ObserverCaller caller,
              Observer& observer)
      : loop_(loop), fd_(std::move(fd)), own_path_(own_path), caller_(caller), observer_(observer) {
    SocketAddress address;
    if (getsockname(fd_.get(), address.data(), &address.size) == 0) local_ = address.address();
    loop_.watch(fd_.get(), EPOLLIN, [this](std::uint32_t) { accept_all(); });
  }
  ~TcpListener() override {
    *alive_ = false;
    loop_.unwatch(fd_.get());
  }
  TcpListener(const TcpListener&) = delete;
  TcpListener& operator=(const TcpListener&) = delete;
  [[nodiscard]] base::Address local() const override { return local_; }

 private:
  void accept_all() {
    const auto alive = alive_;
    while (*alive) {
      base::FileDescriptor fd(accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!fd) return;  // none left, or one that is gone already
      set_no_delay(fd.get());
      auto connection = std::make_unique<TcpConnection>(
          loop_, std::move(fd), TcpConnection::State::open, own_path_, caller_);
      caller_([&] { observer_.accepted(std::move(connection)); });
    }
  }

  base::EpollLoop& loop_;
  base::FileDescriptor fd_;
  bool own_path_;
  ObserverCaller caller_;
  Observer& observer_;
  base::Address local_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

bool is_unspecified(const base::Address& address) {
  return address.octets == base::Address{}.octets;
}

/// Connections leave from the host's own address, so that tests on one machine can tell the parties
/// apart.
int bind_source(int fd, const base::Address& own, std::uint32_t zone) {
  if (is_unspecified(own)) return 0;
  const int late = 1;  // the port is chosen by connect(), when the whole 4-tuple is known
  static_cast<void>(setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &late, sizeof(late)));
  const SocketAddress source(own.with_port(0), zone);
  return bind(fd, source.data(), source.size) == 0 ? 0 : errno;
}

}  // namespace

TcpHost TcpNetwork::limited_host() const {
  TcpHost host = host_;
  if (segment_limit_)
    host.max_segment = std::min(host.max_segment.value_or(SIZE_MAX),
                                std::max(*segment_limit_, smallest_segment_limit));
  return host;
}

bool TcpNetwork::use_spare_address() {
  if (host_.spare_count == 0) return false;
  // Processes beside this one choose as well, each beginning elsewhere.
  const unsigned number =
      (static_cast<unsigned>(getpid()) * 7 + spares_used_++) % host_.spare_count;
  base::Address spare = host_.spare_ipv4;
  spare.octets[3] = static_cast<std::uint8_t>(spare.octets[3] + number);
  spare_ = spare;
  return true;
}

bool TcpNetwork::begin_at(std::optional<std::uint32_t> number) {
  first_number_.reset();
  if (!number) return true;
  const auto trial = open_socket(host_, base::Family::ipv4);
  if (!trial || !choose_first_number(trial->get(), *number)) return false;
  first_number_ = number;
  return true;
}

std::expected<std::unique_ptr<Listener>, Error> TcpNetwork::listen(const base::Address& local,
                                                                   Listener::Observer& observer) {
  auto fd = open_socket(limited_host(), local.family);
  if (!fd) return std::unexpected(error_of("open a socket for", local, fd.error()));
  const SocketAddress address(local, host_.zone);
  if (bind(fd->get(), address.data(), address.size) != 0 || ::listen(fd->get(), SOMAXCONN) != 0)
    return std::unexpected(error_of("listen on", local, errno));
  const bool own_path = spare_ && local.with_port(0) == spare_->with_port(0);
  return std::make_unique<TcpListener>(loop_, std::move(*fd), own_path, host_.observer_caller,
                                       observer);
}

std::expected<std::unique_ptr<Connection>, Error> TcpNetwork::connect(
    const base::Address& remote, Connection::Observer& observer) {
  auto fd = open_socket(limited_host(), remote.family);
  if (!fd) return std::unexpected(error_of("open a socket towards", remote, fd.error()));
  const base::Address own = address(remote.family);
  if (const int code = bind_source(fd->get(), own, host_.zone); code != 0)
    return std::unexpected(error_of("connect from", own, code));
  if (first_number_ && !choose_first_number(fd->get(), *first_number_))
    return std::unexpected(error_of("choose a sequence number towards", remote, errno));
  const SocketAddress target(remote, host_.zone);
  const int code = ::connect(fd->get(), target.data(), target.size) == 0 ? 0 : errno;
  const bool own_path = spare_ && remote.family == base::Family::ipv4;
  auto connection = std::make_unique<TcpConnection>(
      loop_, std::move(*fd), TcpConnection::State::connecting, own_path, host_.observer_caller);
  connection->set_observer(observer);
  if (code != 0 && code != EINPROGRESS) connection->fail_later(ending_of(code));
  return connection;
}

}  // namespace rnic::llp
