// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/scrub/neutral_frame.hpp"

#include <algorithm>

namespace dissectors::scrub {

using base::Bytes;
using capture::Endpoint;
using capture::Frame;
using capture::Segment;

namespace {

constexpr std::size_t ip_checksum_at = 10, tcp_checksum_at = 16, bare_tcp_header = 20;
constexpr std::uint8_t protocol_tcp = 6;
/// "IEEE Std 802 - Local Experimental Ethertype 1" (RFC 9542 appendix B).
constexpr std::uint32_t experimental = 0x88B5;

class Octets {
 public:
  void number(std::uint32_t value, int octets) {
    for (int i = octets - 1; i >= 0; --i)
      octets_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void append(Bytes octets) { octets_.insert(octets_.end(), octets.begin(), octets.end()); }
  void set(std::size_t position, std::uint32_t value) {
    octets_[position] = static_cast<std::byte>(value >> 8);
    octets_[position + 1] = static_cast<std::byte>(value);
  }
  [[nodiscard]] std::size_t size() const { return octets_.size(); }
  [[nodiscard]] Bytes from(std::size_t position) const { return Bytes(octets_).subspan(position); }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(octets_); }

 private:
  std::vector<std::byte> octets_;
};

Bytes address(const Endpoint& endpoint) {
  return Bytes(endpoint.address).first(endpoint.ipv6 ? 16 : 4);
}

std::uint32_t sum(Bytes octets) {
  std::uint32_t total = 0;
  for (std::size_t i = 0; i < octets.size(); ++i)
    total += std::to_integer<std::uint32_t>(octets[i]) << (i % 2 == 0 ? 8 : 0);
  return total;
}

std::uint32_t folded(std::uint32_t total) {
  while (total > 0xFFFFU) total = (total >> 16) + (total & 0xFFFFU);
  return total;
}

/// The Internet checksum (RFC 1071).
std::uint32_t checksum(std::uint32_t total) { return ~folded(total) & 0xFFFFU; }

/// A locally administered MAC address made of the end of the IP address.
void mac(Octets& frame, const Endpoint& endpoint) {
  frame.number(0x0200, 2);
  frame.append(address(endpoint).last(4));
}

void ip_header(Octets& frame, const Endpoint& from, const Endpoint& to, std::size_t length) {
  const auto octets = static_cast<std::uint32_t>(length);
  if (from.ipv6) {
    frame.number(0x60000000, 4);
    frame.number(octets, 2);
    frame.number(protocol_tcp, 1);
    frame.number(64, 1);
  } else {
    frame.number(0x4500, 2);
    frame.number(octets + 20, 2);
    frame.number(0x00004000, 4);
    frame.number(64, 1);
    frame.number(protocol_tcp, 1);
    frame.number(0, 2);
  }
  frame.append(address(from));
  frame.append(address(to));
}

/// The options that change how the stream is read.
Octets tcp_options(const Segment& segment) {
  Octets options;
  if (segment.mss != 0) {
    options.number(0x0204, 2);
    options.number(segment.mss, 2);
  }
  if (segment.window_scale) {
    options.number(0x010303, 3);  // a no-operation first, to keep four octets
    options.number(*segment.window_scale, 1);
  }
  return options;
}

std::uint32_t flags_of(const Segment& segment) {
  return (segment.fin ? 1U : 0U) | (segment.syn ? 2U : 0U) | (segment.rst ? 4U : 0U) |
         (segment.payload_length > 0 ? 8U : 0U) | (segment.ack ? 16U : 0U);
}

std::uint32_t tcp_checksum(const Segment& segment, std::uint32_t pseudo, Bytes tcp) {
  // What a host leaves for its adapter to complete.
  if (!segment.header_sum) return folded(pseudo);
  const std::uint32_t right = checksum(pseudo + sum(tcp));
  return capture::check_checksum(segment) == capture::Checksum::wrong ? right ^ 0x0101U : right;
}

}  // namespace

Endpoint Pseudonyms::of(const Endpoint& endpoint) {
  Endpoint key = endpoint;
  key.port = 0;
  const auto [found, fresh] = names_.try_emplace(key);
  if (fresh) {
    constexpr std::size_t test_net = 254;
    const std::size_t number = endpoint.ipv6 ? ++ipv6_ : ++ipv4_;
    const auto set = [&](std::size_t at, std::size_t value) {
      found->second[at] = static_cast<std::byte>(value);
    };
    if (endpoint.ipv6) {
      for (const auto& [at, value] : {std::pair{0, 0x20}, {1, 0x01}, {2, 0x0d}, {3, 0xb8}})
        set(static_cast<std::size_t>(at), static_cast<std::size_t>(value));
      for (std::size_t i = 0; i < 4; ++i) set(15 - i, number >> (8 * i));
    } else if (number <= test_net) {
      for (const auto& [at, value] : {std::pair{0, 192}, {1, 0}, {2, 2}})
        set(static_cast<std::size_t>(at), static_cast<std::size_t>(value));
      set(3, number);
    } else {
      const std::size_t later = number - test_net;
      set(0, 198);
      set(1, 18 + (later >> 16) % 2);
      set(2, later >> 8);
      set(3, later);
    }
  }
  Endpoint name = endpoint;
  name.address = found->second;
  return name;
}

Frame neutral_frame(const Segment& segment, Pseudonyms& names, std::span<const std::byte> payload,
                    std::uint64_t time) {
  const Endpoint from = names.of(segment.flow.from), to = names.of(segment.flow.to);
  const Octets options = tcp_options(segment);
  const std::size_t length = bare_tcp_header + options.size() + segment.payload_length;
  Octets frame;
  mac(frame, to);
  mac(frame, from);
  frame.number(from.ipv6 ? 0x86DD : 0x0800, 2);
  const std::size_t ip = frame.size();
  ip_header(frame, from, to, length);
  const std::size_t tcp = frame.size();
  frame.number(from.port, 2);
  frame.number(to.port, 2);
  frame.number(segment.sequence, 4);
  frame.number(segment.acknowledgement, 4);
  frame.number(static_cast<std::uint32_t>((bare_tcp_header + options.size()) / 4) << 4, 1);
  frame.number(flags_of(segment), 1);
  frame.number(segment.window, 2);
  frame.number(0, 4);
  frame.append(options.from(0));
  frame.append(payload);
  if (!from.ipv6) frame.set(ip + ip_checksum_at, checksum(sum(frame.from(ip).first(20))));
  const std::uint32_t pseudo = sum(address(from)) + sum(address(to)) + protocol_tcp +
                               static_cast<std::uint32_t>(length & 0xFFFFU) +
                               static_cast<std::uint32_t>(length >> 16);
  frame.set(tcp + tcp_checksum_at, tcp_checksum(segment, pseudo, frame.from(tcp)));
  const auto original = static_cast<std::uint32_t>(tcp + length);
  return {.time = time, .original_length = original, .octets = frame.take()};
}

Frame empty_frame(std::uint64_t time) {
  Octets frame;
  frame.number(0, 4);
  frame.number(0, 4);
  frame.number(0, 4);
  frame.number(experimental, 2);
  const auto length = static_cast<std::uint32_t>(frame.size());
  return {.time = time, .original_length = length, .octets = frame.take()};
}

}  // namespace dissectors::scrub
