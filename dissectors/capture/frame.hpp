// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A captured frame, and what is read from it to assign it to a connection: addresses, ports, TCP
// sequence numbers.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"

namespace dissectors::capture {

/// Link types by their numbers in capture files. A capture of another one is refused when it is
/// opened.
enum class LinkType : std::uint32_t {
  null_loopback = 0,  ///< four octets of address family, in the capturing host's order
  ethernet = 1,
  raw_ip = 101,
  loop = 108,       ///< four octets of address family, in network order
  linux_sll = 113,  ///< Linux "cooked", as of the interface `any`
  raw_ipv4 = 228,
  raw_ipv6 = 229,
  linux_sll2 = 276,  ///< Linux "cooked", second version
};
/// The link type for libpcap's data link type, if its frames are understood here.
[[nodiscard]] std::optional<LinkType> link_of_datalink(int datalink);

struct Frame {
  std::uint64_t time = 0;  ///< nanoseconds since 1970, UTC
  std::uint32_t original_length =
      0;  ///< on the wire; larger than `octets` where the capture cut it
  std::vector<std::byte> octets;
};

/// One end of a TCP connection. IPv4 addresses fill the first four octets.
struct Endpoint {
  std::array<std::byte, 16> address{};
  std::uint16_t port = 0;
  bool ipv6 = false;

  /// From literals; nothing if `host` is not an address.
  [[nodiscard]] static std::optional<Endpoint> parse(std::string_view host, std::uint16_t port);
  [[nodiscard]] std::string text() const;
  /// In words: the library would compare octet by octet.
  bool operator==(const Endpoint& other) const {
    return word(0) == other.word(0) && port == other.port && ipv6 == other.ipv6 &&
           word(1) == other.word(1);
  }
  auto operator<=>(const Endpoint&) const = default;

 private:
  [[nodiscard]] std::uint64_t word(std::size_t which) const {
    std::uint64_t value = 0;
    std::memcpy(&value, address.data() + which * sizeof value, sizeof value);
    return value;
  }
};

/// One direction of a connection.
struct Flow {
  Endpoint from, to;
  [[nodiscard]] Flow reversed() const { return {to, from}; }
  /// The same value for both directions.
  [[nodiscard]] Flow canonical() const { return from < to ? *this : reversed(); }
  auto operator<=>(const Flow&) const = default;
};

/// The same for both directions of a connection; similar addresses and ports have values that differ
/// in all bits.
[[nodiscard]] std::uint32_t hash_of(const Flow& flow);
/// Which of so many parts a flow with this hash is in: by the upper bits, since tables are indexed by the lower
/// ones.
[[nodiscard]] constexpr std::size_t part_of(std::uint32_t hash, std::size_t parts) {
  return static_cast<std::size_t>(std::uint64_t{hash} * parts >> 32);
}

/// The TCP segment in a frame. `payload` views the frame's octets;
/// Ethernet padding is not part of it.
struct Segment {
  Flow flow;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgement = 0;  ///< meaningful with `ack`
  std::uint16_t window = 0;           ///< as it came, not scaled
  bool syn = false, ack = false, fin = false, rst = false;
  std::uint16_t mss = 0;                     ///< what a SYN announces; 0: nothing
  std::optional<std::uint8_t> window_scale;  ///< what a SYN offers, at most 14
  /// One's complement sum of the pseudo-header and of the TCP header with its checksum field, in the
  /// octet order of this machine; nothing where an adapter was still to fill that field in.
  std::optional<std::uint16_t> header_sum;
  bool payload_stays = false;  ///< what `payload` views outlives everything that is told of it
  base::Bytes payload;
  std::size_t payload_length =
      0;  ///< by the IP header; larger than `payload` where the capture cut the frame
};

enum class Checksum : std::uint8_t {
  right,
  wrong,
  unknown,  ///< not filled in yet, or the capture cut the frame
};
/// The result of the TCP checksum (RFC 9293 section 3.1) of the segment.
[[nodiscard]] Checksum check_checksum(const Segment& segment);

/// Why a frame contains no TCP segment.
enum class NoSegment : std::uint8_t {
  other_protocol,
  fragment,   ///< of an IP packet: its ports, or the rest of its octets, lie elsewhere
  malformed,  ///< lengths that do not fit, or headers that the capture cut
};

/// The segment in a frame: after VLAN tags (up to four), MPLS labels, IPv6 extension headers, a
/// whole packet's fragment header, and tunnels (up to four of IP in IP, GRE, VXLAN, GENEVE).
[[nodiscard]] std::expected<Segment, NoSegment> parse_segment(LinkType link, base::Bytes frame);
/// The hash of that segment's flow, or the same reason; faster.
[[nodiscard]] std::expected<std::uint32_t, NoSegment> hash_of_segment(LinkType link,
                                                                      base::Bytes frame);

/// The UDP payload in a frame, with its destination port, or nothing.
struct Datagram {
  std::uint16_t port = 0;
  base::Bytes payload;
};
[[nodiscard]] std::optional<Datagram> parse_datagram(LinkType link, base::Bytes frame);

}  // namespace dissectors::capture
