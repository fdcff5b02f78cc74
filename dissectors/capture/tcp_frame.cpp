// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/capture/tcp_frame.hpp"

#include <utility>
#include <vector>

namespace dissectors::capture {

namespace {

using base::Bytes;

constexpr std::size_t ip_checksum_at = 10, tcp_checksum_at = 16, bare_tcp_header = 20;
constexpr std::uint8_t protocol_tcp = 6;

class Builder {
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

// The Internet checksum (RFC 1071).
std::uint32_t checksum(std::uint32_t total) { return ~folded(total) & 0xFFFFU; }

void mac(Builder& frame, const Endpoint& endpoint) {
  frame.number(0x0200, 2);
  frame.append(address(endpoint).last(4));
}

void ip_header(Builder& frame, const Endpoint& from, const Endpoint& to, std::uint32_t length) {
  if (from.ipv6) {
    frame.number(0x60000000, 4);
    frame.number(length, 2);
    frame.number(protocol_tcp, 1);
    frame.number(64, 1);
  } else {
    frame.number(0x4500, 2);
    frame.number(length + 20, 2);
    frame.number(0x00004000, 4);
    frame.number(64, 1);
    frame.number(protocol_tcp, 1);
    frame.number(0, 2);
  }
  frame.append(address(from));
  frame.append(address(to));
}

void tcp_header(Builder& frame, const TcpFrame& segment) {
  frame.number(segment.from.port, 2);
  frame.number(segment.to.port, 2);
  frame.number(segment.sequence, 4);
  frame.number(segment.acknowledgement, 4);
  frame.number(static_cast<std::uint32_t>((bare_tcp_header + segment.options.size()) / 4) << 4, 1);
  frame.number(segment.flags, 1);
  frame.number(segment.window, 2);
  frame.number(0, 4);
  frame.append(segment.options);
}

std::uint32_t tcp_checksum(TcpFrame::Sum form, std::uint32_t pseudo, Bytes tcp) {
  if (form == TcpFrame::Sum::of_pseudo_header) return folded(pseudo);
  const std::uint32_t right = checksum(pseudo + sum(tcp));
  return form == TcpFrame::Sum::wrong ? right ^ 0x0101U : right;
}

}  // namespace

Frame frame_of(const TcpFrame& segment, std::uint64_t time) {
  const Endpoint& from = segment.from;
  const Endpoint& to = segment.to;
  const auto length =
      static_cast<std::uint32_t>(bare_tcp_header + segment.options.size() + segment.payload_length);
  Builder frame;
  mac(frame, to);
  mac(frame, from);
  frame.number(from.ipv6 ? 0x86DD : 0x0800, 2);
  const std::size_t ip = frame.size();
  ip_header(frame, from, to, length);
  const std::size_t tcp = frame.size();
  tcp_header(frame, segment);
  frame.append(segment.payload);
  if (!from.ipv6) frame.set(ip + ip_checksum_at, checksum(sum(frame.from(ip).first(20))));
  const std::uint32_t pseudo =
      sum(address(from)) + sum(address(to)) + protocol_tcp + (length & 0xFFFFU) + (length >> 16);
  frame.set(tcp + tcp_checksum_at, tcp_checksum(segment.checksum, pseudo, frame.from(tcp)));
  const auto original = static_cast<std::uint32_t>(tcp) + length;
  return {.time = time, .original_length = original, .octets = frame.take()};
}

}  // namespace dissectors::capture
