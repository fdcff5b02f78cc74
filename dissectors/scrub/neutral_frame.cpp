// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/scrub/neutral_frame.hpp"

#include <initializer_list>
#include <utility>
#include <vector>

#include "dissectors/capture/tcp_frame.hpp"

namespace dissectors::scrub {

using capture::Endpoint;
using capture::Frame;
using capture::Segment;
using capture::TcpFrame;

namespace {

/// "IEEE Std 802 - Local Experimental Ethertype 1" (RFC 9542 appendix B).
constexpr std::uint32_t experimental = 0x88B5;

/// The options that change how the stream is read.
std::vector<std::byte> tcp_options(const Segment& segment) {
  std::vector<std::byte> options;
  const auto append = [&](std::initializer_list<unsigned> octets) {
    for (const unsigned octet : octets) options.push_back(static_cast<std::byte>(octet));
  };
  if (segment.mss != 0) append({2, 4, unsigned{segment.mss} >> 8U, segment.mss & 0xFFU});
  if (segment.window_scale)  // a no-operation first, to keep four octets
    append({1, 3, 3, *segment.window_scale});
  return options;
}

std::uint8_t flags_of(const Segment& segment) {
  return static_cast<std::uint8_t>(
      (segment.fin ? 1U : 0U) | (segment.syn ? 2U : 0U) | (segment.rst ? 4U : 0U) |
      (segment.payload_length > 0 ? 8U : 0U) | (segment.ack ? 16U : 0U));
}

TcpFrame::Sum checksum_of(const Segment& segment) {
  if (!segment.header_sum) return TcpFrame::Sum::of_pseudo_header;
  return capture::check_checksum(segment) == capture::Checksum::wrong ? TcpFrame::Sum::wrong
                                                                      : TcpFrame::Sum::right;
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
  const std::vector<std::byte> options = tcp_options(segment);
  return capture::frame_of({.from = names.of(segment.flow.from),
                            .to = names.of(segment.flow.to),
                            .sequence = segment.sequence,
                            .acknowledgement = segment.acknowledgement,
                            .flags = flags_of(segment),
                            .window = segment.window,
                            .options = options,
                            .payload = payload,
                            .payload_length = segment.payload_length,
                            .checksum = checksum_of(segment)},
                           time);
}

Frame empty_frame(std::uint64_t time) {
  // Both MAC addresses are zero.
  std::vector<std::byte> octets(14);
  octets[12] = static_cast<std::byte>(experimental >> 8U);
  octets[13] = static_cast<std::byte>(experimental & 0xFFU);
  const auto length = static_cast<std::uint32_t>(octets.size());
  return {.time = time, .original_length = length, .octets = std::move(octets)};
}

}  // namespace dissectors::scrub
