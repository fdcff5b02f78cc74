// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A TCP connection's events, and the ways in which it ends.
#include "reference_rnic/llp/tcp_connection.hpp"

#include <sys/epoll.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>

#include "reference_rnic/llp/tcp_disturbance.hpp"
#include "reference_rnic/llp/tcp_socket.hpp"

namespace rnic::llp {

namespace {

constexpr std::size_t max_pieces = 256;  ///< per system call
constexpr base::Duration linger_time = std::chrono::seconds(1);

template <typename Span>
std::size_t to_iovecs(std::span<const Span> pieces, std::array<iovec, max_pieces>& list) {
  std::size_t count = 0;
  for (const Span& piece : pieces) {
    if (count == max_pieces) break;
    if (piece.empty()) continue;
    list[count++] = {const_cast<std::byte*>(piece.data()), piece.size()};
  }
  return count;
}

/// Discards what still arrives until the peer's FIN or an error (false: nothing more will come).
bool drain(int fd) {
  std::array<std::byte, 16384> scratch;
  while (true) {
    const ssize_t count = recv(fd, scratch.data(), scratch.size(), 0);
    if (count > 0) continue;
    return count < 0 && (errno == EAGAIN || errno == EINTR);
  }
}

}  // namespace

TcpConnection::TcpConnection(base::EpollLoop& loop, base::FileDescriptor fd, State state,
                             bool own_path, ObserverCaller caller)
    : loop_(loop), fd_(std::move(fd)), state_(state), own_path_(own_path), caller_(caller) {
  if (state == State::open) remember_facts();
}

TcpConnection::~TcpConnection() {
  *alive_ = false;
  if (ending_timer_) loop_.cancel(*ending_timer_);
  if (!fd_) return;
  loop_.unwatch(fd_.get());
  if (state_ == State::open) linger_and_close();
}

void TcpConnection::linger_and_close() {
  if (!send_shut_) ::shutdown(fd_.get(), SHUT_WR);
  if (peer_closed_ || !drain(fd_.get())) return;
  // The callbacks own the socket; the last one releases it.
  auto fd = std::make_shared<base::FileDescriptor>(std::move(fd_));
  const int number = fd->get();
  base::EpollLoop& loop = loop_;
  const base::TimerId timer =
      loop.schedule(loop.now() + linger_time, [&loop, number] { loop.unwatch(number); });
  loop.watch(number, EPOLLIN, [&loop, fd, timer](std::uint32_t) {
    if (drain(fd->get())) return;
    loop.cancel(timer);
    loop.unwatch(fd->get());
  });
}

void TcpConnection::remember_facts() {
  SocketAddress address;
  if (getsockname(fd_.get(), address.data(), &address.size) == 0) local_ = address.address();
  address = {};
  if (getpeername(fd_.get(), address.data(), &address.size) == 0) remote_ = address.address();
  const TcpFacts facts = tcp_facts(fd_.get());
  segments_at_end_ = facts.data_segments_sent;
  segments_received_at_end_ = facts.data_segments_received;
  emss_at_end_ = facts.segment_size;
}

void TcpConnection::set_observer(Observer& observer) {
  observer_ = &observer;
  update_watch();
}

void TcpConnection::update_watch() {
  if (!fd_ || observer_ == nullptr || state_ == State::ended) return;
  std::uint32_t events = 0;
  if (state_ == State::connecting || wants_writable_) events |= EPOLLOUT;
  if (state_ == State::open && !paused_ && !peer_closed_) events |= EPOLLIN;
  // With both halves closed the kernel reports a hang-up forever, and nothing else can follow.
  const bool over = peer_closed_ && send_shut_;
  if (watched_ && over) {
    loop_.unwatch(fd_.get());
    watched_ = false;
  } else if (watched_) {
    loop_.change(fd_.get(), events);
  } else if (!over) {
    loop_.watch(fd_.get(), events, [this](std::uint32_t happened) { on_events(happened); });
    watched_ = true;
  }
}

void TcpConnection::on_events(std::uint32_t events) {
  const auto alive = alive_;
  if (state_ == State::connecting) return finish_connecting();
  // Octets that arrived before a reset are read first; then receive() gets the error.
  const bool broken = events & (EPOLLERR | EPOLLHUP);
  if ((events & EPOLLIN || broken) && !paused_ && !peer_closed_) {
    report_readable();
    if (!*alive || state_ == State::ended) return;
  } else if (broken) {
    const int code = pending_error(fd_.get());
    if (code != 0 || !paused_) return end_now(ending_of(code != 0 ? code : ECONNRESET));
    loop_.unwatch(
        fd_.get());  // both FINs are there and the rest is unread: wait until receiving goes on
    watched_ = false;
    return;
  }
  if (events & EPOLLOUT && wants_writable_) {
    wants_writable_ = false;
    update_watch();
    caller_([this] { observer_->writable(); });
  }
}

void TcpConnection::finish_connecting() {
  if (const int code = pending_error(fd_.get()); code != 0) return end_now(ending_of(code));
  state_ = State::open;
  remember_facts();
  update_watch();
  caller_([this] { observer_->connected(); });
}

void TcpConnection::end_now(Ending ending) {
  if (fd_) {
    remember_facts();
    loop_.unwatch(fd_.get());
    fd_.close();
  }
  state_ = State::ended;
  on_ended();
  if (observer_ != nullptr) caller_([this, ending] { observer_->ended(ending); });
}

void TcpConnection::fail_later(Ending ending) {
  state_ = State::ended;
  if (watched_) loop_.unwatch(fd_.get());
  watched_ = false;
  ending_timer_ = loop_.defer([this, ending] {
    ending_timer_.reset();
    end_now(ending);
  });
}

Connection::Received TcpConnection::receive(std::span<const wire::MutableBytes> targets) {
  std::array<iovec, max_pieces> list;
  const std::size_t pieces = to_iovecs(targets, list);
  if (peer_closed_) return {0, true};
  if (state_ != State::open || pieces == 0) return {};
  const ssize_t count = readv(fd_.get(), list.data(), static_cast<int>(pieces));
  if (count > 0) return {static_cast<std::size_t>(count), false};
  if (count == 0) {
    peer_closed_ = true;
    update_watch();
    return {0, true};
  }
  if (errno != EAGAIN && errno != EINTR) fail_later(ending_of(errno));
  return {};
}

std::size_t TcpConnection::send(std::span<const wire::Bytes> pieces, bool end_segment) {
  assert(!send_shut_ && "send() after shutdown_send()");
  std::size_t taken = 0;
  while (!pieces.empty() && state_ == State::open) {
    const auto some = pieces.first(std::min(pieces.size(), max_pieces));
    pieces = pieces.subspan(some.size());
    // What follows may belong to the same segment.
    const int flags = !pieces.empty() ? MSG_MORE : end_segment ? MSG_EOR : 0;
    const auto [count, whole] = send_once(some, flags);
    taken += count;
    if (whole) continue;
    wants_writable_ = true;
    update_watch();
    break;
  }
  return taken;
}

auto TcpConnection::send_once(std::span<const wire::Bytes> pieces, int flags) -> Sent {
  std::array<iovec, max_pieces> list;
  msghdr message{};
  message.msg_iov = list.data();
  message.msg_iovlen = to_iovecs(pieces, list);
  std::size_t offered = 0;
  for (const wire::Bytes& piece : pieces) offered += piece.size();
  if (offered == 0) return {0, true};
  const ssize_t count = sendmsg(fd_.get(), &message, MSG_NOSIGNAL | flags);
  if (count < 0 && errno != EAGAIN && errno != EINTR) fail_later(ending_of(errno));
  const std::size_t taken = count > 0 ? static_cast<std::size_t>(count) : 0;
  return {taken, taken == offered};
}

void TcpConnection::shutdown_send() {
  if (state_ != State::open || send_shut_) return;
  send_shut_ = true;
  wants_writable_ = false;
  ::shutdown(fd_.get(), SHUT_WR);
  update_watch();
}

void TcpConnection::reset() {
  if (ending_timer_) loop_.cancel(*ending_timer_);
  ending_timer_.reset();
  if (fd_) {
    remember_facts();
    loop_.unwatch(fd_.get());
    const linger now{.l_onoff = 1, .l_linger = 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    fd_.close();
  }
  state_ = State::ended;
}

void TcpConnection::give_up() {
  if (ending_timer_) loop_.cancel(*ending_timer_);
  ending_timer_.reset();
  if (fd_) {
    remember_facts();
    loop_.unwatch(fd_.get());
    fd_.close();
  }
  state_ = State::ended;
}

base::Address TcpConnection::local() const { return local_; }
base::Address TcpConnection::remote() const { return remote_; }

std::size_t TcpConnection::emss() const {
  return fd_ ? tcp_facts(fd_.get()).segment_size : emss_at_end_;
}

std::size_t TcpConnection::unacknowledged() const {
  return fd_ ? octets_in_send_queue(fd_.get()) : 0;
}

std::uint64_t TcpConnection::data_segments_sent() const {
  return fd_ ? tcp_facts(fd_.get()).data_segments_sent : segments_at_end_;
}

std::uint64_t TcpConnection::data_segments_received() const {
  return fd_ ? tcp_facts(fd_.get()).data_segments_received : segments_received_at_end_;
}

bool TcpConnection::change_emss(std::size_t octets) {
  return own_path_ && state_ == State::open && announce_path_mtu(fd_.get(), octets);
}

bool TcpConnection::can_disturb() const {
  return state_ == State::open && llp::can_disturb(fd_.get());
}

bool TcpConnection::send_lost(wire::Bytes octets) {
  return state_ == State::open && !send_shut_ && llp::send_lost(fd_.get(), octets);
}

bool TcpConnection::inject(std::int64_t offset, wire::Bytes octets, Ecn ecn) {
  return state_ == State::open && llp::inject_segment(fd_.get(), offset, octets, ecn);
}

void TcpConnection::pause_receiving(bool paused) {
  paused_ = paused;
  update_watch();
}

void TcpConnection::set_receive_buffer(std::size_t octets) {
  const int size = static_cast<int>(octets);
  if (fd_) static_cast<void>(setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)));
}

}  // namespace rnic::llp
