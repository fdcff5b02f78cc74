// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/llp/tcp_disturbance.hpp"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>

#include <cstring>
#include <optional>
#include <vector>

#include "reference_rnic/llp/tcp_socket.hpp"

namespace rnic::llp {

namespace {

constexpr int checksum_at = 16;                  ///< in the TCP header
constexpr std::uint16_t announced_window = 512;  ///< in units of the connection's own scale

/// The socket in repair mode, as long as this lives.
class Repair {
 public:
  explicit Repair(int fd) : fd_(fd), entered_(set(TCP_REPAIR, TCP_REPAIR_ON)) {}
  ~Repair() {
    if (entered_) static_cast<void>(set(TCP_REPAIR, TCP_REPAIR_OFF_NO_WP));
  }
  Repair(const Repair&) = delete;
  Repair& operator=(const Repair&) = delete;

  [[nodiscard]] bool choose(int queue) const { return entered_ && set(TCP_REPAIR_QUEUE, queue); }
  /// The next sequence number of a queue.
  [[nodiscard]] std::optional<std::uint32_t> sequence(int queue) const {
    std::uint32_t value = 0;
    socklen_t size = sizeof(value);
    if (!choose(queue) || getsockopt(fd_, IPPROTO_TCP, TCP_QUEUE_SEQ, &value, &size) != 0)
      return std::nullopt;
    return value;
  }

 private:
  [[nodiscard]] bool set(int option, int value) const {
    return setsockopt(fd_, IPPROTO_TCP, option, &value, sizeof(value)) == 0;
  }
  int fd_;
  bool entered_;
};

/// The sum of 16-bit words in network byte order, an odd octet padded by zero (RFC 1071).
std::uint32_t add_words(std::uint32_t sum, wire::Bytes octets) {
  for (std::size_t i = 0; i < octets.size(); ++i) {
    const auto octet = std::to_integer<std::uint32_t>(octets[i]);
    sum += i % 2 == 0 ? octet << 8 : octet;
  }
  return sum;
}

/// The checksum of a TCP segment between IPv4 addresses (RFC 9293 section 3.1).
std::uint16_t checksum(const Address& from, const Address& to, wire::Bytes segment) {
  std::uint32_t sum = add_words(0, std::as_bytes(std::span(from.octets)).first(4));
  sum = add_words(sum, std::as_bytes(std::span(to.octets)).first(4));
  sum += IPPROTO_TCP + static_cast<std::uint32_t>(segment.size());
  sum = add_words(sum, segment);
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

struct Ends {
  Address local, remote;
};

std::optional<Ends> ends_of(int fd) {
  SocketAddress local, remote;
  if (getsockname(fd, local.data(), &local.size) != 0 ||
      getpeername(fd, remote.data(), &remote.size) != 0)
    return std::nullopt;
  return Ends{local.address(), remote.address()};
}

std::vector<std::byte> segment_of(const Ends& ends, std::uint32_t sequence,
                                  std::uint32_t acknowledged, wire::Bytes octets) {
  tcphdr header{};
  header.source = htons(ends.local.port);
  header.dest = htons(ends.remote.port);
  header.seq = htonl(sequence);
  header.ack_seq = htonl(acknowledged);
  header.doff = sizeof(header) / 4;
  header.ack = 1;
  header.psh = 1;
  header.window = htons(announced_window);
  std::vector<std::byte> segment(sizeof(header) + octets.size());
  std::memcpy(segment.data(), &header, sizeof(header));
  if (!octets.empty()) std::memcpy(segment.data() + sizeof(header), octets.data(), octets.size());
  if (ends.local.family == Family::ipv4) {
    const std::uint16_t sum = htons(checksum(ends.local, ends.remote, segment));
    std::memcpy(segment.data() + checksum_at, &sum, sizeof(sum));
  }
  return segment;
}

/// A raw socket in the namespace of the connected one, bound to its address.
std::optional<FileDescriptor> raw_socket_beside(int fd, const Address& local) {
  const FileDescriptor home(ioctl(fd, SIOCGSKNS));
  if (!home) return std::nullopt;
  auto raw = open_raw_socket(home.get(), local.family);
  if (!raw) return std::nullopt;
  if (local.family == Family::ipv6 &&
      setsockopt(raw->get(), IPPROTO_IPV6, IPV6_CHECKSUM, &checksum_at, sizeof(checksum_at)) != 0)
    return std::nullopt;
  const SocketAddress source(local.with_port(0));
  if (bind(raw->get(), source.data(), source.size) != 0) return std::nullopt;
  return std::move(*raw);
}

}  // namespace

bool can_disturb(int fd) {
  const auto ends = ends_of(fd);
  return ends && raw_socket_beside(fd, ends->local) &&
         Repair(fd).sequence(TCP_SEND_QUEUE).has_value();
}

bool send_lost(int fd, wire::Bytes octets) {
  const Repair repair(fd);
  if (!repair.choose(TCP_SEND_QUEUE)) return false;
  const ssize_t count = send(fd, octets.data(), octets.size(), MSG_NOSIGNAL);
  return count >= 0 && static_cast<std::size_t>(count) == octets.size();
}

bool inject_segment(int fd, std::int64_t offset, wire::Bytes octets) {
  const auto ends = ends_of(fd);
  if (!ends) return false;
  std::optional<std::uint32_t> next, acknowledged;
  {
    const Repair repair(fd);
    next = repair.sequence(TCP_SEND_QUEUE);
    acknowledged = repair.sequence(TCP_RECV_QUEUE);
  }
  const auto raw = raw_socket_beside(fd, ends->local);
  if (!raw || !next || !acknowledged) return false;
  const auto segment =
      segment_of(*ends, *next + static_cast<std::uint32_t>(offset), *acknowledged, octets);
  const SocketAddress target(ends->remote.with_port(0));
  const ssize_t count =
      sendto(raw->get(), segment.data(), segment.size(), 0, target.data(), target.size);
  return count >= 0 && static_cast<std::size_t>(count) == segment.size();
}

}  // namespace rnic::llp
