// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/llp/tcp_disturbance.hpp"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <sys/ioctl.h>

#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "reference_rnic/llp/tcp_socket.hpp"

namespace rnic::llp {

namespace {

constexpr int checksum_at = 16;                  ///< in the TCP header
constexpr std::uint16_t announced_window = 512;  ///< in units of the connection's own scale
constexpr std::uint16_t usual_mtu = 1500;
constexpr std::size_t headers_of_ipv4 = sizeof(iphdr) + sizeof(tcphdr);

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
  /// To be called before the socket connects; the SYN has the number.
  [[nodiscard]] bool begin_at(std::uint32_t number) const {
    return choose(TCP_SEND_QUEUE) && set(TCP_QUEUE_SEQ, static_cast<int>(number));
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

std::uint16_t folded(std::uint32_t sum) {
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

/// The checksum of a TCP segment between IPv4 addresses (RFC 9293 section 3.1).
std::uint16_t checksum(const base::Address& from, const base::Address& to, wire::Bytes segment) {
  std::uint32_t sum = add_words(0, std::as_bytes(std::span(from.octets)).first(4));
  sum = add_words(sum, std::as_bytes(std::span(to.octets)).first(4));
  sum += IPPROTO_TCP + static_cast<std::uint32_t>(segment.size());
  return folded(add_words(sum, segment));
}

struct Ends {
  base::Address local, remote;
  std::uint32_t zone = 0;  ///< of link-local addresses
};

std::optional<Ends> ends_of(int fd) {
  SocketAddress local, remote;
  if (getsockname(fd, local.data(), &local.size) != 0 ||
      getpeername(fd, remote.data(), &remote.size) != 0)
    return std::nullopt;
  return Ends{local.address(), remote.address(), local.zone()};
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
  if (ends.local.family == base::Family::ipv4) {
    const std::uint16_t sum = htons(checksum(ends.local, ends.remote, segment));
    std::memcpy(segment.data() + checksum_at, &sum, sizeof(sum));
  }
  return segment;
}

in_addr ipv4_of(const base::Address& address) {
  in_addr result{};
  std::memcpy(&result, address.octets.data(), sizeof(result));
  return result;
}

/// What a router answers to a packet of the peer that is too long for the path: the message and the
/// beginning of that packet (RFC 792, RFC 1191 section 4).
struct TooLong {
  icmphdr message{};
  iphdr packet{};
  std::array<std::uint8_t, 8> segment{};  ///< ports and sequence number

  TooLong(const Ends& ends, std::uint32_t sequence, std::uint16_t mtu) {
    packet.version = 4;
    packet.ihl = sizeof(packet) / 4;
    packet.tot_len = htons(usual_mtu);
    packet.frag_off = htons(IP_DF);
    packet.ttl = 64;
    packet.protocol = IPPROTO_TCP;
    packet.saddr = ipv4_of(ends.remote).s_addr;
    packet.daddr = ipv4_of(ends.local).s_addr;
    packet.check = htons(folded(add_words(0, std::as_bytes(std::span(&packet, 1)))));
    const std::array<std::uint16_t, 2> ports{htons(ends.remote.port), htons(ends.local.port)};
    const std::uint32_t number = htonl(sequence);
    std::memcpy(segment.data(), ports.data(), sizeof(ports));
    std::memcpy(segment.data() + sizeof(ports), &number, sizeof(number));
    message.type = ICMP_DEST_UNREACH;
    message.code = ICMP_FRAG_NEEDED;
    message.un.frag.mtu = htons(mtu);
    message.checksum = htons(folded(add_words(0, octets())));
  }
  [[nodiscard]] wire::Bytes octets() const { return std::as_bytes(std::span(this, 1)); }
};
static_assert(sizeof(TooLong) == sizeof(icmphdr) + sizeof(iphdr) + 8);

/// A raw socket in the namespace of the connected one, bound to its address.
std::optional<base::FileDescriptor> raw_socket_beside(int fd, const Ends& ends,
                                                      int protocol = IPPROTO_TCP) {
  const base::FileDescriptor home(ioctl(fd, SIOCGSKNS));
  if (!home) return std::nullopt;
  auto raw = open_raw_socket(home.get(), ends.local.family, protocol);
  if (!raw) return std::nullopt;
  if (ends.local.family == base::Family::ipv6 &&
      setsockopt(raw->get(), IPPROTO_IPV6, IPV6_CHECKSUM, &checksum_at, sizeof(checksum_at)) != 0)
    return std::nullopt;
  const SocketAddress source(ends.local.with_port(0), ends.zone);
  if (bind(raw->get(), source.data(), source.size) != 0) return std::nullopt;
  return std::move(*raw);
}

/// What the socket sends from here on has this ECN field.
bool mark(int raw, base::Family family, Ecn ecn) {
  const int field = static_cast<int>(ecn);
  const bool over_ipv4 = family == base::Family::ipv4;
  return setsockopt(raw, over_ipv4 ? IPPROTO_IP : IPPROTO_IPV6, over_ipv4 ? IP_TOS : IPV6_TCLASS,
                    &field, sizeof(field)) == 0;
}

}  // namespace

bool choose_first_number(int fd, std::uint32_t number) { return Repair(fd).begin_at(number - 1); }

bool can_disturb(int fd) {
  const auto ends = ends_of(fd);
  return ends && raw_socket_beside(fd, *ends) && Repair(fd).sequence(TCP_SEND_QUEUE).has_value();
}

bool send_lost(int fd, wire::Bytes octets) {
  const Repair repair(fd);
  if (!repair.choose(TCP_SEND_QUEUE)) return false;
  const ssize_t count = send(fd, octets.data(), octets.size(), MSG_NOSIGNAL);
  return count >= 0 && static_cast<std::size_t>(count) == octets.size();
}

bool inject_segment(int fd, std::int64_t offset, wire::Bytes octets, Ecn ecn) {
  const auto ends = ends_of(fd);
  if (!ends) return false;
  std::optional<std::uint32_t> next, acknowledged;
  {
    const Repair repair(fd);
    next = repair.sequence(TCP_SEND_QUEUE);
    acknowledged = repair.sequence(TCP_RECV_QUEUE);
  }
  const auto raw = raw_socket_beside(fd, *ends);
  if (!raw || !next || !acknowledged || !mark(raw->get(), ends->local.family, ecn)) return false;
  const auto segment =
      segment_of(*ends, *next + static_cast<std::uint32_t>(offset), *acknowledged, octets);
  const SocketAddress target(ends->remote.with_port(0), ends->zone);
  const ssize_t count =
      sendto(raw->get(), segment.data(), segment.size(), 0, target.data(), target.size);
  return count >= 0 && static_cast<std::size_t>(count) == segment.size();
}

bool announce_path_mtu(int fd, std::size_t emss) {
  const auto ends = ends_of(fd);
  if (!ends || ends->local.family != base::Family::ipv4 || emss + headers_of_ipv4 > usual_mtu)
    return false;
  // What the peer sends next: a host accepts only messages about data that it may have in flight.
  const auto sequence = Repair(fd).sequence(TCP_RECV_QUEUE);
  const auto raw = raw_socket_beside(fd, *ends, IPPROTO_ICMP);
  if (!raw || !sequence) return false;
  const TooLong answer(*ends, *sequence, static_cast<std::uint16_t>(emss + headers_of_ipv4));
  const wire::Bytes octets = answer.octets();
  const SocketAddress target(ends->remote.with_port(0));
  const ssize_t count =
      sendto(raw->get(), octets.data(), octets.size(), 0, target.data(), target.size);
  return count >= 0 && static_cast<std::size_t>(count) == octets.size();
}

}  // namespace rnic::llp
