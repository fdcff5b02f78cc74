// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/capture/synthesizer.hpp"

#include <algorithm>

namespace dissectors::capture {

namespace {

constexpr std::size_t largest_segment = 1440;  // fits an MTU of 1500 with either IP version
constexpr std::size_t tcp_header = 20;
constexpr std::uint8_t protocol_tcp = 6;

class Builder {
 public:
  void number(std::uint32_t value, int octets) {
    for (int i = octets - 1; i >= 0; --i)
      octets_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void append(base::Bytes octets) { octets_.insert(octets_.end(), octets.begin(), octets.end()); }
  void set(std::size_t position, std::uint16_t value) {
    octets_[position] = static_cast<std::byte>(value >> 8);
    octets_[position + 1] = static_cast<std::byte>(value & 0xFFU);
  }
  [[nodiscard]] std::size_t size() const { return octets_.size(); }
  [[nodiscard]] base::Bytes from(std::size_t position) const {
    return base::Bytes(octets_).subspan(position);
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(octets_); }

 private:
  std::vector<std::byte> octets_;
};

base::Bytes address(const Endpoint& endpoint) {
  return base::Bytes(endpoint.address).first(endpoint.ipv6 ? 16 : 4);
}

std::uint32_t sum(base::Bytes octets) {
  std::uint32_t total = 0;
  for (std::size_t i = 0; i < octets.size(); ++i) {
    total += std::to_integer<std::uint32_t>(octets[i]) << (i % 2 == 0 ? 8 : 0);
  }
  return total;
}

// The Internet checksum (RFC 1071).
std::uint16_t checksum(std::uint32_t total) {
  while (total > 0xFFFFU) total = (total >> 16) + (total & 0xFFFFU);
  return static_cast<std::uint16_t>(~total);
}

// A locally administered MAC address made of the last octets of the IP address.
void mac(Builder& frame, const Endpoint& endpoint) {
  frame.number(0x0200, 2);
  frame.append(address(endpoint).last(4));
}

void ip_header(Builder& frame, const Flow& flow, std::size_t length) {
  if (flow.from.ipv6) {
    frame.number(0x60000000, 4);
    frame.number(static_cast<std::uint32_t>(length), 2);
    frame.number(protocol_tcp, 1);
    frame.number(64, 1);
  } else {
    frame.number(0x4500, 2);
    frame.number(static_cast<std::uint32_t>(length + 20), 2);
    frame.number(0x00004000, 4);
    frame.number(64, 1);
    frame.number(protocol_tcp, 1);
    frame.number(0, 2);
  }
  frame.append(address(flow.from));
  frame.append(address(flow.to));
}

}  // namespace

void Synthesizer::emit(const Flow& flow, std::uint64_t time, Flags flags, base::Bytes payload) {
  std::uint32_t& next = next_sequence_.try_emplace(flow, 0).first->second;
  const auto other = next_sequence_.find(flow.reversed());
  const bool ack = flags.ack && other != next_sequence_.end();
  Builder frame;
  mac(frame, flow.to);
  mac(frame, flow.from);
  frame.number(flow.from.ipv6 ? 0x86DD : 0x0800, 2);
  const std::size_t ip = frame.size();
  ip_header(frame, flow, tcp_header + payload.size());
  const std::size_t tcp = frame.size();
  frame.number(flow.from.port, 2);
  frame.number(flow.to.port, 2);
  frame.number(next, 4);
  frame.number(ack ? other->second : 0, 4);
  frame.number(0x50, 1);
  frame.number((flags.fin ? 1U : 0U) | (flags.syn ? 2U : 0U) | (flags.rst ? 4U : 0U) |
                   (payload.empty() ? 0U : 8U) | (ack ? 16U : 0U),
               1);
  frame.number(0xFFFF, 2);
  frame.number(0, 4);
  frame.append(payload);

  if (!flow.from.ipv6) frame.set(ip + 10, checksum(sum(frame.from(ip).first(20))));
  const std::uint32_t pseudo = sum(address(flow.from)) + sum(address(flow.to)) + protocol_tcp +
                               static_cast<std::uint32_t>(frame.size() - tcp);
  frame.set(tcp + 16, checksum(pseudo + sum(frame.from(tcp))));

  next += static_cast<std::uint32_t>(payload.size()) + (flags.syn || flags.fin ? 1U : 0U);
  const auto length = static_cast<std::uint32_t>(frame.size());
  frames_.push_back({.time = time, .original_length = length, .octets = frame.take()});
}

void Synthesizer::opened(const Flow& flow, std::uint64_t time) {
  next_sequence_.erase(flow);
  next_sequence_.erase(flow.reversed());
  emit(flow, time, {.syn = true, .ack = false}, {});
  emit(flow.reversed(), time, {.syn = true}, {});
  emit(flow, time, {}, {});
}

void Synthesizer::data(const Flow& flow, std::uint64_t time, base::Bytes octets) {
  while (!octets.empty()) {
    const base::Bytes piece = octets.first(std::min(octets.size(), largest_segment));
    emit(flow, time, {}, piece);
    octets = octets.subspan(piece.size());
  }
}

void Synthesizer::closed(const Flow& flow, std::uint64_t time) {
  emit(flow, time, {.fin = true}, {});
}
void Synthesizer::reset(const Flow& flow, std::uint64_t time) {
  emit(flow, time, {.rst = true}, {});
}

}  // namespace dissectors::capture
