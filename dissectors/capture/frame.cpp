// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/capture/frame.hpp"

#include <arpa/inet.h>

#include <algorithm>

#include <fmt/format.h>

namespace dissectors::capture {

namespace {

constexpr std::uint16_t ethertype_ipv4 = 0x0800, ethertype_ipv6 = 0x86DD;
constexpr std::uint16_t ethertype_vlan = 0x8100, ethertype_service_vlan = 0x88A8;
constexpr std::uint8_t protocol_tcp = 6, protocol_udp = 17;

// Reads big-endian numbers in order; once something was missing everything further is 0 and
// `good()` is false.
class Cursor {
 public:
  explicit Cursor(Octets octets) : rest_(octets) {}
  Octets take(std::size_t count) {
    if (count > rest_.size()) {
      good_ = false;
      rest_ = {};
      return {};
    }
    const Octets taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  std::uint32_t number(std::size_t count) {
    std::uint32_t value = 0;
    for (const std::byte octet : take(count))
      value = (value << 8) | std::to_integer<std::uint32_t>(octet);
    return value;
  }
  std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] Octets rest() const { return rest_; }

 private:
  Octets rest_;
  bool good_ = true;
};

// What an IP packet carries.
struct Packet {
  Flow flow;  ///< ports not known yet
  std::uint8_t protocol = 0;
  std::size_t length = 0;  ///< of the payload by the header
  Octets payload;          ///< what was captured of it
};

void set_address(Endpoint& endpoint, Octets address) {
  std::ranges::copy(address, endpoint.address.begin());
  endpoint.ipv6 = address.size() == 16;
}

std::optional<Packet> parse_ipv4(Octets octets) {
  Cursor cursor(octets);
  const std::size_t header = (cursor.u8() & 0x0FU) * std::size_t{4};
  cursor.take(1);
  const std::size_t total = cursor.u16();
  cursor.take(2);
  const std::uint16_t fragment = cursor.u16();
  cursor.take(1);
  Packet packet;
  packet.protocol = cursor.u8();
  cursor.take(2);
  set_address(packet.flow.from, cursor.take(4));
  set_address(packet.flow.to, cursor.take(4));
  // A fragment (MF or an offset, RFC 791 3.1) has no ports to tell its connection by.
  if (!cursor.good() || header < 20 || total < header || octets.size() < header ||
      (fragment & 0x3FFFU) != 0)
    return {};
  packet.length = total - header;
  packet.payload = octets.subspan(header);
  packet.payload = packet.payload.first(std::min(packet.payload.size(), packet.length));
  return packet;
}

std::optional<Packet> parse_ipv6(Octets octets) {
  Cursor cursor(octets);
  cursor.take(4);
  Packet packet;
  packet.length = cursor.u16();
  packet.protocol = cursor.u8();
  cursor.take(1);
  set_address(packet.flow.from, cursor.take(16));
  set_address(packet.flow.to, cursor.take(16));
  if (!cursor.good()) return {};
  packet.payload = cursor.rest();
  packet.payload = packet.payload.first(std::min(packet.payload.size(), packet.length));
  return packet;
}

std::optional<Packet> parse_packet(LinkType link, Octets octets) {
  Cursor cursor(octets);
  if (link == LinkType::ethernet) {
    cursor.take(12);
    std::uint16_t type = cursor.u16();
    for (int tags = 0; tags < 2 && (type == ethertype_vlan || type == ethertype_service_vlan);
         ++tags) {
      cursor.take(2);
      type = cursor.u16();
    }
    if (type != ethertype_ipv4 && type != ethertype_ipv6) return {};
  }
  const Octets packet = cursor.rest();
  if (packet.empty()) return {};
  switch (std::to_integer<unsigned>(packet.front()) >> 4) {
    case 4:
      return parse_ipv4(packet);
    case 6:
      return parse_ipv6(packet);
    default:
      return {};
  }
}

// The Maximum Segment Size option of a TCP header (RFC 9293 3.2), or 0.
std::uint16_t announced_mss(Octets header) {
  constexpr std::size_t fixed_part = 20;
  constexpr std::uint8_t end_of_options = 0, no_operation = 1, maximum_segment_size = 2;
  Cursor options(header.subspan(std::min(header.size(), fixed_part)));
  while (options.good() && !options.rest().empty()) {
    const std::uint8_t kind = options.u8();
    if (kind == no_operation) continue;
    if (kind == end_of_options) return 0;
    const std::size_t length = options.u8();
    if (length < 2) return 0;
    if (kind == maximum_segment_size && length == 4) return options.u16();
    options.take(length - 2);
  }
  return 0;
}

}  // namespace

std::optional<Endpoint> Endpoint::parse(std::string_view host, std::uint16_t port) {
  const std::string text(host);
  Endpoint endpoint;
  endpoint.port = port;
  if (inet_pton(AF_INET, text.c_str(), endpoint.address.data()) == 1) return endpoint;
  endpoint.ipv6 = true;
  if (inet_pton(AF_INET6, text.c_str(), endpoint.address.data()) == 1) return endpoint;
  return std::nullopt;
}

std::string Endpoint::text() const {
  std::array<char, INET6_ADDRSTRLEN> host{};
  inet_ntop(ipv6 ? AF_INET6 : AF_INET, address.data(), host.data(), host.size());
  return ipv6 ? fmt::format("[{}]:{}", host.data(), port) : fmt::format("{}:{}", host.data(), port);
}

std::optional<Segment> parse_segment(LinkType link, Octets frame) {
  const auto packet = parse_packet(link, frame);
  if (!packet || packet->protocol != protocol_tcp) return {};
  Cursor cursor(packet->payload);
  Segment segment;
  segment.flow = packet->flow;
  segment.flow.from.port = cursor.u16();
  segment.flow.to.port = cursor.u16();
  segment.sequence = cursor.number(4);
  segment.acknowledgement = cursor.number(4);
  const std::size_t header = (cursor.u8() >> 4) * std::size_t{4};
  const std::uint8_t flags = cursor.u8();
  if (!cursor.good() || header < 20 || packet->length < header) return {};
  segment.fin = (flags & 0x01U) != 0;
  segment.syn = (flags & 0x02U) != 0;
  segment.rst = (flags & 0x04U) != 0;
  segment.ack = (flags & 0x10U) != 0;
  if (segment.syn)
    segment.mss = announced_mss(packet->payload.first(std::min(packet->payload.size(), header)));
  segment.payload_length = packet->length - header;
  if (packet->payload.size() > header) segment.payload = packet->payload.subspan(header);
  return segment;
}

std::optional<Datagram> parse_datagram(LinkType link, Octets frame) {
  const auto packet = parse_packet(link, frame);
  if (!packet || packet->protocol != protocol_udp) return {};
  Cursor cursor(packet->payload);
  cursor.take(2);
  Datagram datagram;
  datagram.port = cursor.u16();
  cursor.take(4);
  if (!cursor.good()) return {};
  datagram.payload = cursor.rest();
  return datagram;
}

}  // namespace dissectors::capture
