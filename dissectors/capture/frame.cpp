// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/capture/frame.hpp"

#include <arpa/inet.h>
#include <pcap/dlt.h>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace dissectors::capture {

namespace {

constexpr std::uint16_t ethertype_ipv4 = 0x0800, ethertype_ipv6 = 0x86DD, ethertype_mpls = 0x8847,
                        ethertype_ethernet = 0x6558;
// C-tag, S-tag (IEEE 802.1Q), and the value in use before that of the S-tag was assigned.
constexpr std::uint16_t ethertype_vlan = 0x8100, ethertype_service_vlan = 0x88A8,
                        ethertype_old_service_vlan = 0x9100;
constexpr int most_vlan_tags = 4;
constexpr std::uint8_t protocol_tcp = 6, protocol_udp = 17;
// What carries a packet within a packet: IPv4 (RFC 2003), IPv6 (RFC 2473, 4213), GRE (RFC 2784).
constexpr std::uint8_t protocol_ipv4 = 4, protocol_ipv6 = 41, protocol_gre = 47;
constexpr std::uint16_t port_vxlan = 4789, port_geneve = 6081;  // RFC 7348, RFC 8926
constexpr int most_tunnels = 4;
// IPv6 extension headers (RFC 8200 section 4, RFC 4302).
constexpr std::uint8_t hop_by_hop = 0, routing = 43, fragment_header = 44, authentication = 51,
                       destination_options = 60;

template <std::unsigned_integral Number>
Number number_at(base::Bytes octets, std::size_t at) {
  Number value = 0;
  std::memcpy(&value, octets.data() + at, sizeof value);
  return std::endian::native == std::endian::big ? value : std::byteswap(value);
}

// Reads big-endian numbers in order; after a number that is not there, all are 0 and `good()` is
// false.
class Cursor {
 public:
  explicit Cursor(base::Bytes octets) : rest_(octets) {}
  base::Bytes take(std::size_t count) {
    if (count > rest_.size()) {
      good_ = false;
      rest_ = {};
      return {};
    }
    const base::Bytes taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  template <std::unsigned_integral Number>
  Number number() {
    const base::Bytes taken = take(sizeof(Number));
    return taken.empty() ? Number{0} : number_at<Number>(taken, 0);
  }
  std::uint8_t u8() { return number<std::uint8_t>(); }
  std::uint16_t u16() { return number<std::uint16_t>(); }
  std::uint32_t u32() { return number<std::uint32_t>(); }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] base::Bytes rest() const { return rest_; }

 private:
  base::Bytes rest_;
  bool good_ = true;
};

// What an IP packet carries.
struct Packet {
  Flow flow;  ///< without the ports
  std::uint8_t protocol = 0;
  std::size_t length = 0;  ///< of the payload by the header
  base::Bytes payload;     ///< what was captured of it
};

void set_address(Endpoint& endpoint, base::Bytes address) {
  std::ranges::copy(address, endpoint.address.begin());
  endpoint.ipv6 = address.size() == 16;
}

using Parsed = std::expected<Packet, NoSegment>;

Parsed parse_ipv4(base::Bytes octets) {
  Cursor cursor(octets);
  const std::size_t header = (cursor.u8() & 0x0FU) * std::size_t{4};
  cursor.take(1);
  std::size_t total = cursor.u16();
  cursor.take(2);
  const std::uint16_t fragment = cursor.u16();
  cursor.take(1);
  Parsed parsed;  // filled in place: a copy of it is what costs most here
  Packet& packet = *parsed;
  packet.protocol = cursor.u8();
  cursor.take(2);
  set_address(packet.flow.from, cursor.take(4));
  set_address(packet.flow.to, cursor.take(4));
  // A sender whose adapter segments more than 64 KiB writes no length.
  if (total == 0) total = octets.size();
  packet.length = total - header;
  packet.payload = octets.subspan(std::min(header, octets.size()));
  packet.payload = packet.payload.first(std::min(packet.payload.size(), packet.length));
  if (!cursor.good() || header < 20 || total < header || octets.size() < header)
    parsed = std::unexpected(NoSegment::malformed);
  // A fragment (MF or an offset, RFC 791 3.1) has no ports that show its connection.
  else if ((fragment & 0x3FFFU) != 0)
    parsed = std::unexpected(NoSegment::fragment);
  return parsed;
}

// Removes one extension header from the packet's payload; after the last one, the protocol is
// another.
std::expected<void, NoSegment> strip_extension(Packet& packet) {
  Cursor cursor(packet.payload);
  const std::uint8_t kind = std::exchange(packet.protocol, cursor.u8());
  const std::uint8_t units = cursor.u8();
  std::size_t size = (units + std::size_t{1}) * 8;
  if (kind == fragment_header) {
    size = 8;
    // Offset and M; without both it is the whole packet (RFC 8200 section 4.5, RFC 6946).
    if ((cursor.u16() & 0xFFF9U) != 0) return std::unexpected(NoSegment::fragment);
  } else if (kind == authentication) {
    size = (units + std::size_t{2}) * 4;
  }
  if (!cursor.good() || size > packet.payload.size()) return std::unexpected(NoSegment::malformed);
  packet.payload = packet.payload.subspan(size);
  packet.length -= size;
  return {};
}

bool is_extension(std::uint8_t protocol) {
  return protocol == hop_by_hop || protocol == routing || protocol == fragment_header ||
         protocol == authentication || protocol == destination_options;
}

Parsed parse_ipv6(base::Bytes octets) {
  Cursor cursor(octets);
  cursor.take(4);
  Packet packet;
  packet.length = cursor.u16();
  packet.protocol = cursor.u8();
  cursor.take(1);
  set_address(packet.flow.from, cursor.take(16));
  set_address(packet.flow.to, cursor.take(16));
  if (!cursor.good()) return std::unexpected(NoSegment::malformed);
  packet.payload = cursor.rest();
  // A jumbogram (RFC 2675) has its length in an option; here it ends where the capture does.
  if (packet.length == 0) packet.length = packet.payload.size();
  packet.payload = packet.payload.first(std::min(packet.payload.size(), packet.length));
  // Each iteration takes at least eight octets, so this ends.
  while (is_extension(packet.protocol))
    if (const auto stripped = strip_extension(packet); !stripped)
      return std::unexpected(stripped.error());
  return packet;
}

// Removes VLAN tags and MPLS labels (RFC 3032); false if no IP packet follows them.
bool strip_tags(std::uint16_t type, Cursor& cursor) {
  for (int tags = 0; tags < most_vlan_tags; ++tags) {
    if (type != ethertype_vlan && type != ethertype_service_vlan &&
        type != ethertype_old_service_vlan)
      break;
    cursor.take(2);
    type = cursor.u16();
  }
  if (type == ethertype_mpls) {
    constexpr std::uint32_t bottom_of_stack = 0x100;
    while (cursor.good() && (cursor.u32() & bottom_of_stack) == 0) {
    }
    return true;  // the next octets show the IP version
  }
  return type == ethertype_ipv4 || type == ethertype_ipv6;
}

// Removes the link's header; false if the header shows that the frame carries no IP.
bool strip_link(LinkType link, Cursor& cursor) {
  std::uint16_t type = ethertype_ipv4;
  switch (link) {
    case LinkType::raw_ip:
    case LinkType::raw_ipv4:
    case LinkType::raw_ipv6:
      return true;
    case LinkType::null_loopback:
    case LinkType::loop:
      // The family's number differs between systems; the IP version after it does not.
      cursor.take(4);
      return true;
    case LinkType::ethernet:
      cursor.take(12);
      type = cursor.u16();
      break;
    case LinkType::linux_sll:
      cursor.take(14);
      type = cursor.u16();
      break;
    case LinkType::linux_sll2:
      type = cursor.u16();
      cursor.take(18);
      break;
  }
  return strip_tags(type, cursor);
}

bool strip_ethernet(Cursor& cursor) {
  cursor.take(12);
  return strip_tags(cursor.u16(), cursor);
}

// GRE with its optional checksum, key and sequence number (RFC 2784, RFC 2890).
bool strip_gre(Cursor& cursor) {
  constexpr std::uint16_t checksum = 0x8000, key = 0x2000, sequence = 0x1000, version = 0x0007;
  const std::uint16_t flags = cursor.u16();
  if ((flags & version) != 0) return false;
  const std::uint16_t type = cursor.u16();
  for (const std::uint16_t flag : {checksum, key, sequence})
    if ((flags & flag) != 0) cursor.take(4);
  return type == ethertype_ethernet ? strip_ethernet(cursor) : strip_tags(type, cursor);
}

bool strip_vxlan(Cursor& cursor) {
  constexpr std::uint8_t has_identifier = 0x08;
  const bool valid = (cursor.u8() & has_identifier) != 0;
  cursor.take(7);
  return valid && strip_ethernet(cursor);
}

bool strip_geneve(Cursor& cursor) {
  constexpr unsigned version = 0xC0, words_of_options = 0x3F;
  const std::uint8_t first = cursor.u8();
  cursor.take(1);
  const std::uint16_t type = cursor.u16();
  cursor.take(4 + (first & words_of_options) * std::size_t{4});
  if ((first & version) != 0) return false;
  return type == ethertype_ethernet ? strip_ethernet(cursor) : strip_tags(type, cursor);
}

// Removes the header of a tunnel; false if there is none that is known here.
bool strip_tunnel(const Packet& packet, Cursor& cursor) {
  switch (packet.protocol) {
    case protocol_ipv4:
    case protocol_ipv6:
      return true;
    case protocol_gre:
      return strip_gre(cursor);
    case protocol_udp: {
      cursor.take(2);
      const std::uint16_t port = cursor.u16();
      cursor.take(4);
      if (port == port_vxlan) return strip_vxlan(cursor);
      return port == port_geneve && strip_geneve(cursor);
    }
    default:
      return false;
  }
}

Parsed parse_ip(base::Bytes packet) {
  if (packet.empty()) return std::unexpected(NoSegment::malformed);
  switch (std::to_integer<unsigned>(packet.front()) >> 4) {
    case 4:
      return parse_ipv4(packet);
    case 6:
      return parse_ipv6(packet);
    default:
      return std::unexpected(NoSegment::other_protocol);
  }
}

Parsed parse_packet(LinkType link, base::Bytes octets) {
  Cursor cursor(octets);
  const bool ip = strip_link(link, cursor);
  if (!cursor.good()) return std::unexpected(NoSegment::malformed);
  if (!ip) return std::unexpected(NoSegment::other_protocol);
  return parse_ip(cursor.rest());
}

// The innermost packet: connections are those of what the tunnel carries.
Parsed leave_tunnels(Parsed packet) {
  for (int tunnels = 0; tunnels < most_tunnels && packet; ++tunnels) {
    Cursor cursor(packet->payload);
    if (!strip_tunnel(*packet, cursor)) break;
    if (!cursor.good()) return std::unexpected(NoSegment::malformed);
    packet = parse_ip(cursor.rest());
  }
  return packet;
}

// One's complement sum of 16-bit words as this machine reads them, not folded yet (RFC 1071); an odd octet
// is followed by a zero. Longer words give the same sum if what they carry is added again: halves of
// 64 bits are added apart, so that nothing is carried.
constexpr std::uint64_t low_half = 0xFFFF'FFFF;

// For few octets. A copy of as many to a word of zeroes would be waited for when the word is read.
std::uint64_t sum_by_words(base::Bytes octets) {
  std::uint64_t sum = 0;
  const auto add = [&]<typename Word>(Word word, std::size_t count) {
    std::memcpy(&word, octets.data(), count);
    octets = octets.subspan(count);
    const std::uint64_t value = word;
    sum += (value & low_half) + (value >> 32);
  };
  while (octets.size() >= 8) add(std::uint64_t{0}, 8);
  if (octets.size() >= 4) add(std::uint32_t{0}, 4);
  if (octets.size() >= 2) add(std::uint16_t{0}, 2);
  if (!octets.empty()) add(std::uint16_t{0}, 1);
  return sum;
}

// For whole vectors of words.
template <typename Words>
[[gnu::always_inline]] inline std::uint64_t sum_by_vectors(base::Bytes octets) {
  Words lower{}, upper{}, words;
  for (; octets.size() >= sizeof words; octets = octets.subspan(sizeof words)) {
    std::memcpy(&words, octets.data(), sizeof words);
    lower += words & low_half;
    upper += words >> 32;
  }
  lower += upper;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < sizeof words / sizeof sum; ++i) sum += lower[i];
  return sum;
}

using TwoWords = std::uint64_t __attribute__((vector_size(16)));
#ifdef __x86_64__
using FourWords = std::uint64_t __attribute__((vector_size(32)));
[[gnu::target("avx2")]] std::uint64_t sum_by_avx2(base::Bytes octets) {
  return sum_by_vectors<FourWords>(octets);
}
#endif

std::uint64_t sum_of(base::Bytes octets) {
  constexpr std::size_t vector = 32;
  const base::Bytes front = octets.first(octets.size() / vector * vector);
#ifdef __x86_64__
  const bool by_avx2 = front.size() >= 128 && __builtin_cpu_supports("avx2");
  const std::uint64_t sum = by_avx2 ? sum_by_avx2(front) : sum_by_vectors<TwoWords>(front);
#else
  const std::uint64_t sum = sum_by_vectors<TwoWords>(front);
#endif
  // Not before the rest, since the processor fetches what is read in order.
  return sum + sum_by_words(octets.subspan(front.size()));
}

// Twice each, for what the first time carries: whether it does, the processor could only guess.
std::uint16_t fold(std::uint64_t sum) {
  sum = (sum & low_half) + (sum >> 32);
  sum = (sum & low_half) + (sum >> 32);
  sum = (sum & 0xFFFF) + (sum >> 16);
  sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

std::uint64_t sum_of_address(const Endpoint& end) {
  const auto words = std::bit_cast<std::array<std::uint32_t, 4>>(end.address);
  return std::uint64_t{words[0]} + words[1] + words[2] + words[3];
}

// `tcp`: the whole header; `length`: its octets and those of the payload. A host that leaves
// checksums to its adapter writes the sum of the pseudo-header into the field.
void sum_header(base::Bytes tcp, std::size_t length, Segment& segment) {
  constexpr std::size_t checksum_field = 16;
  const auto network_order = [](std::size_t number) {
    const auto word = static_cast<std::uint16_t>(number);
    return std::endian::native == std::endian::big ? word : std::byteswap(word);
  };
  // What an IPv4 address leaves free is zero.
  const std::uint64_t pseudo = sum_of_address(segment.flow.from) + sum_of_address(segment.flow.to) +
                               network_order(length >> 16) + network_order(length) +
                               network_order(protocol_tcp);
  std::uint16_t field = 0;
  std::memcpy(&field, tcp.data() + checksum_field, sizeof field);
  if (field != fold(pseudo)) segment.header_sum = fold(pseudo + sum_by_words(tcp));
}

// The options of a SYN's TCP header that are read: Maximum Segment Size (RFC 9293 3.2) and Window
// Scale (RFC 7323 2.2).
void read_syn_options(base::Bytes header, Segment& segment) {
  constexpr std::size_t fixed_part = 20;
  constexpr std::uint8_t end_of_options = 0, no_operation = 1, maximum_segment_size = 2,
                         window_scale = 3, largest_scale = 14;
  Cursor options(header.subspan(std::min(header.size(), fixed_part)));
  while (options.good() && !options.rest().empty()) {
    const std::uint8_t kind = options.u8();
    if (kind == no_operation) continue;
    if (kind == end_of_options) return;
    const std::size_t length = options.u8();
    if (length < 2) return;
    if (kind == maximum_segment_size && length == 4)
      segment.mss = options.u16();
    else if (kind == window_scale && length == 3)
      segment.window_scale = std::min(options.u8(), largest_scale);
    else
      options.take(length - 2);
  }
}

}  // namespace

std::optional<LinkType> link_of_datalink(int datalink) {
  switch (datalink) {
    case DLT_NULL:
      return LinkType::null_loopback;
    case DLT_EN10MB:
      return LinkType::ethernet;
    case DLT_RAW:
      return LinkType::raw_ip;
    case DLT_LOOP:
      return LinkType::loop;
    case DLT_LINUX_SLL:
      return LinkType::linux_sll;
    case DLT_IPV4:
      return LinkType::raw_ipv4;
    case DLT_IPV6:
      return LinkType::raw_ipv6;
    case DLT_LINUX_SLL2:
      return LinkType::linux_sll2;
    default:
      return {};
  }
}

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

namespace {

/// The finalizer of a multiplicative hash.
std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 31;
  value *= 0x9E3779B97F4A7C15U;
  return value ^ (value >> 29);
}

/// `words`: the address, by two pieces of eight octets.
std::uint64_t hash_of(std::array<std::uint64_t, 2> words, std::uint16_t port) {
  return mix(mix(words[0] + port) + words[1]);
}

std::uint64_t hash_of(const Endpoint& end) {
  return hash_of(std::bit_cast<std::array<std::uint64_t, 2>>(end.address), end.port);
}

std::uint32_t hash_of_both(std::uint64_t from, std::uint64_t to) {
  const std::uint64_t hash = from + to;
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

}  // namespace

std::uint32_t hash_of(const Flow& flow) {
  return hash_of_both(hash_of(flow.from), hash_of(flow.to));
}

namespace {

constexpr unsigned flag_fin = 0x01, flag_syn = 0x02, flag_rst = 0x04, flag_ack = 0x10;

void read_flags(unsigned flags, Segment& segment) {
  segment.fin = (flags & flag_fin) != 0;
  segment.syn = (flags & flag_syn) != 0;
  segment.rst = (flags & flag_rst) != 0;
  segment.ack = (flags & flag_ack) != 0;
}

// `octets`: what was captured of the TCP header, of `header` octets, and of the payload, which has
// `length` with it.
void read_payload(base::Bytes octets, std::size_t header, std::size_t length, Segment& segment) {
  segment.payload_length = length - header;
  if (octets.size() >= header) sum_header(octets.first(header), length, segment);
  if (octets.size() > header) segment.payload = octets.subspan(header);
}

// Why the frame is no segment; nothing if it is one.
std::optional<NoSegment> read_segment(LinkType link, base::Bytes frame, Segment& segment) {
  auto packet = parse_packet(link, frame);
  if (packet && packet->protocol != protocol_tcp) packet = leave_tunnels(std::move(packet));
  if (!packet) return packet.error();
  if (packet->protocol != protocol_tcp) return NoSegment::other_protocol;
  Cursor cursor(packet->payload);
  segment.flow = packet->flow;
  segment.flow.from.port = cursor.u16();
  segment.flow.to.port = cursor.u16();
  segment.sequence = cursor.u32();
  segment.acknowledgement = cursor.u32();
  const std::size_t header = (cursor.u8() >> 4) * std::size_t{4};
  const std::uint8_t flags = cursor.u8();
  if (!cursor.good() || header < 20 || packet->length < header) return NoSegment::malformed;
  segment.window = cursor.u16();  // 0 if the capture ended before it
  read_flags(flags, segment);
  if (segment.syn)
    read_syn_options(packet->payload.first(std::min(packet->payload.size(), header)), segment);
  read_payload(packet->payload, header, packet->length, segment);
  return std::nullopt;
}

// Places in what nearly all frames are: Ethernet without tags, IPv4 without options, no fragment, TCP.
namespace plain {
constexpr std::size_t type = 12, ip = 14, ip_header = 20, tcp = ip + ip_header, shortest = tcp + 20;
}  // namespace plain

// Whether the frame is such a one, whole up to the payload, and has no options to read as a SYN has.
bool is_plain(base::Bytes frame) {
  if (frame.size() < plain::shortest ||
      number_at<std::uint16_t>(frame, plain::type) != ethertype_ipv4 ||
      number_at<std::uint8_t>(frame, plain::ip) != 0x45 ||
      number_at<std::uint8_t>(frame, plain::ip + 9) != protocol_tcp ||
      (number_at<std::uint16_t>(frame, plain::ip + 6) & 0x3FFFU) != 0)
    return false;
  const std::size_t length = number_at<std::uint16_t>(frame, plain::ip + 2);
  const std::size_t header =
      (number_at<std::uint8_t>(frame, plain::tcp + 12) >> 4) * std::size_t{4};
  return header >= 20 && length >= plain::ip_header + header &&
         frame.size() >= plain::tcp + header &&
         (number_at<std::uint8_t>(frame, plain::tcp + 13) & flag_syn) == 0;
}

// An Endpoint that was written only just now, in pieces, cannot be read again in larger ones without a wait
// for the former: its address is written in the words in which it is compared.
std::uint64_t plain_address(base::Bytes frame, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, frame.data() + at, 4);
  return word;
}

void read_plain_end(base::Bytes frame, std::size_t address, std::size_t port, Endpoint& end) {
  const std::uint64_t word = plain_address(frame, address);
  std::memcpy(end.address.data(), &word, sizeof word);
  end.port = number_at<std::uint16_t>(frame, port);
}

// That of an Endpoint with this address and port.
std::uint64_t hash_of_plain_end(base::Bytes frame, std::size_t address, std::size_t port) {
  return hash_of({plain_address(frame, address), 0}, number_at<std::uint16_t>(frame, port));
}

void read_plain_segment(base::Bytes frame, Segment& segment) {
  const base::Bytes tcp = frame.subspan(plain::tcp);
  read_plain_end(frame, plain::ip + 12, plain::tcp, segment.flow.from);
  read_plain_end(frame, plain::ip + 16, plain::tcp + 2, segment.flow.to);
  segment.sequence = number_at<std::uint32_t>(tcp, 4);
  segment.acknowledgement = number_at<std::uint32_t>(tcp, 8);
  segment.window = number_at<std::uint16_t>(tcp, 14);
  read_flags(number_at<std::uint8_t>(tcp, 13), segment);
  const std::size_t length = number_at<std::uint16_t>(frame, plain::ip + 2) - plain::ip_header;
  const std::size_t header = (number_at<std::uint8_t>(tcp, 12) >> 4) * std::size_t{4};
  read_payload(tcp.first(std::min(tcp.size(), length)), header, length, segment);
}

}  // namespace

std::expected<Segment, NoSegment> parse_segment(LinkType link, base::Bytes frame) {
  std::expected<Segment, NoSegment> parsed;
  if (link == LinkType::ethernet && is_plain(frame))
    read_plain_segment(frame, *parsed);
  else if (const auto why = read_segment(link, frame, *parsed))
    parsed = std::unexpected(*why);
  return parsed;
}

std::expected<std::uint32_t, NoSegment> hash_of_segment(LinkType link, base::Bytes frame) {
  if (link == LinkType::ethernet && is_plain(frame))
    return hash_of_both(hash_of_plain_end(frame, plain::ip + 12, plain::tcp),
                        hash_of_plain_end(frame, plain::ip + 16, plain::tcp + 2));
  const auto segment = parse_segment(link, frame);
  if (!segment) return std::unexpected(segment.error());
  return hash_of(segment->flow);
}

Checksum check_checksum(const Segment& segment) {
  if (!segment.header_sum || segment.payload.size() < segment.payload_length)
    return Checksum::unknown;
  return fold(*segment.header_sum + sum_of(segment.payload)) == 0xFFFF ? Checksum::right
                                                                       : Checksum::wrong;
}

std::optional<Datagram> parse_datagram(LinkType link, base::Bytes frame) {
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
