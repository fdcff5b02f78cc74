// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/dat/handoff.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "reference_rnic/dat/borrowed_socket.hpp"
#include "reference_rnic/llp/tcp_connection.hpp"
#include "reference_rnic/wire/mpa_frame.hpp"

namespace rnic::dat {

namespace {

constexpr int backlog = 64;
constexpr std::size_t most_senders = 64;
constexpr std::size_t longest_frame = wire::mpa_frame_header_size + wire::mpa_max_private_data;

/// An abstract name: it disappears with its socket, and belongs to the network namespace.
struct HandoffName {
  explicit HandoffName(const base::Address& listening) {
    const std::string name = "librnic_dat/" + listening.text();
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  [[nodiscard]] const sockaddr* pointer() const {
    return reinterpret_cast<const sockaddr*>(&address);
  }
  sockaddr_un address{};
  socklen_t size = 0;
};

base::FileDescriptor local_socket() {
  return base::FileDescriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// Whether the process at the other end is of our user.
bool is_of_our_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == ::geteuid();
}

/// A message with some octets and one descriptor.
struct Message {
  Message(void* octets, std::size_t count) : piece{octets, count} {
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  void put(int fd) {
    cmsghdr* item = CMSG_FIRSTHDR(&header);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(item), &fd, sizeof fd);
  }
  /// The descriptor that came with the message, or none.
  [[nodiscard]] base::FileDescriptor take() {
    const cmsghdr* item = CMSG_FIRSTHDR(&header);
    if (item == nullptr || item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS ||
        item->cmsg_len != CMSG_LEN(sizeof(int)))
      return {};
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(item), sizeof fd);
    return base::FileDescriptor(fd);
  }

  iovec piece;
  msghdr header{};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
};

/// A connection whose startup frame another process has read: here the frame is read first again.
class HandedConnection final : public llp::TcpConnection {
 public:
  HandedConnection(base::EpollLoop& loop, base::FileDescriptor socket, std::vector<std::byte> frame)
      : TcpConnection(loop, std::move(socket), State::open),
        loop_(loop),
        frame_(std::move(frame)) {}

  void set_observer(llp::Connection::Observer& observer) override {
    TcpConnection::set_observer(observer);
    loop_.defer([this, alive = std::weak_ptr<char>(alive_)] {
      if (!alive.expired() && !frame_.empty()) report_readable();
    });
  }
  Received receive(std::span<const wire::MutableBytes> targets) override {
    if (frame_.empty()) return TcpConnection::receive(targets);
    std::size_t given = 0;
    for (const wire::MutableBytes& target : targets) {
      const std::size_t count = std::min(target.size(), frame_.size() - given);
      std::copy_n(frame_.begin() + static_cast<std::ptrdiff_t>(given), count, target.begin());
      given += count;
    }
    frame_.erase(frame_.begin(), frame_.begin() + static_cast<std::ptrdiff_t>(given));
    return {given, false};
  }

 private:
  base::EpollLoop& loop_;
  std::vector<std::byte> frame_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace

// ---------------------------------------------------------------- in

std::unique_ptr<HandoffListener> HandoffListener::open(base::EpollLoop& loop,
                                                       const base::Address& listening,
                                                       Taker taker) {
  base::FileDescriptor listener = local_socket();
  const HandoffName name(listening);
  if (!listener || ::bind(listener.get(), name.pointer(), name.size) != 0 ||
      ::listen(listener.get(), backlog) != 0)
    return nullptr;
  return std::unique_ptr<HandoffListener>(
      new HandoffListener(loop, std::move(listener), listening, std::move(taker)));
}

HandoffListener::HandoffListener(base::EpollLoop& loop, base::FileDescriptor listener,
                                 const base::Address& listening, Taker taker)
    : loop_(loop),
      listener_(std::move(listener)),
      address_(listening.with_port(0)),
      taker_(std::move(taker)) {
  loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { connected(); });
}

HandoffListener::~HandoffListener() {
  loop_.unwatch(listener_.get());
  for (const base::FileDescriptor& sender : senders_) loop_.unwatch(sender.get());
}

void HandoffListener::connected() {
  base::FileDescriptor sender(
      ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!sender && (errno == EMFILE || errno == ENFILE))
    return loop_.unwatch(listener_.get());  // else it would be reported for ever
  if (!sender || !is_of_our_user(sender.get()) || senders_.size() == most_senders) return;
  const int number = sender.get();
  senders_.push_back(std::move(sender));
  loop_.watch(number, EPOLLIN, [this, number](std::uint32_t) { read(number); });
}

void HandoffListener::read(int sender) {
  std::vector<std::byte> frame(longest_frame);
  Message message(frame.data(), frame.size());
  const ssize_t count = ::recvmsg(sender, &message.header, MSG_CMSG_CLOEXEC);
  base::FileDescriptor socket = count > 0 ? message.take() : base::FileDescriptor();
  const bool whole = (message.header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
  loop_.unwatch(sender);
  std::erase_if(senders_, [&](const base::FileDescriptor& one) { return one.get() == sender; });
  if (!socket || !whole || !lendable(socket.get(), address_, 0)) return;
  frame.resize(static_cast<std::size_t>(count));
  taker_(std::make_unique<HandedConnection>(loop_, std::move(socket), std::move(frame)));
}

// ---------------------------------------------------------------- out

bool hand_over(const base::Address& to, const llp::Connection& connection,
               wire::Bytes startup_frame) {
  const auto* tcp = dynamic_cast<const llp::TcpConnection*>(&connection);
  // A socket that the consumer lent is not ours to give away.
  if (tcp == nullptr || tcp->descriptor() < 0 || is_borrowed(connection)) return false;
  const base::FileDescriptor socket = local_socket();
  const HandoffName name(to);
  if (!socket || ::connect(socket.get(), name.pointer(), name.size) != 0 ||
      !is_of_our_user(socket.get()))
    return false;
  Message message(const_cast<std::byte*>(startup_frame.data()), startup_frame.size());
  message.put(tcp->descriptor());
  return ::sendmsg(socket.get(), &message.header, MSG_NOSIGNAL) ==
         static_cast<ssize_t>(startup_frame.size());
}

void let_go(std::unique_ptr<llp::Connection> connection) {
  if (auto* tcp = dynamic_cast<llp::TcpConnection*>(connection.get())) tcp->give_up();
}

}  // namespace rnic::dat
