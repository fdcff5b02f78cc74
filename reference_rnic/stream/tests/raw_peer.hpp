// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One stream and a peer made of hand-typed octets.
#pragma once

#include <string>
#include <string_view>

#include "reference_rnic/stream/tests/hex_octets.hpp"
#include "reference_rnic/stream/tests/stream_pair.hpp"
#include "reference_rnic/wire/tests/format_fpdu.hpp"

namespace rnic::stream::test {

// RFC 5044 Figure 8 and RFC 6581 section 6, in hex.
inline constexpr std::string_view request_key = "4d50412049442052657120 4672616d65";
inline constexpr std::string_view reply_key = "4d50412049442052657020 4672616d65";

inline std::string request(std::string_view rest) {
  return std::string(request_key) + std::string(rest);
}
inline std::string reply(std::string_view rest) {
  return std::string(reply_key) + std::string(rest);
}

/// An FPDU without Markers around a ULPDU typed in hex.
inline std::vector<std::byte> fpdu(std::string_view ulpdu, bool crc = false) {
  const std::vector<std::byte> content = octets(ulpdu);
  const wire::Bytes piece(content);
  std::vector<std::byte> result(wire::fpdu_size(content.size()));
  wire::Writer writer(result);
  wire::test::format_fpdu(writer, std::span(&piece, 1), {crc, false, 0});
  result.resize(writer.size());
  return result;
}

/// The memory that hand-typed messages refer to.
inline void furnish(TestMemory& memory) {
  memory.add_region(0x101, 0x1000, 64, every_access);
  memory.add_region(0x202, 0x1000, 64, {});
  memory.add_region(0x303, 0x1000, 64, every_access).refusal = MemoryFault::not_associated;
  memory.add_region(0x404, ~std::uint64_t{0} - 63, 64, every_access);
  memory.add_region(0x505, 0x1000, 64, every_access).invalidable = false;
  for (std::size_t i = 0; i < 64; ++i) memory.region(0x101).octets[i] = static_cast<std::byte>(i);
}

class Subject : public End {
 public:
  using End::End;
  TimePoint now{};

  void feed(wire::Bytes input) {
    this->stream.receive(input, now);
    this->collect();
  }
  void feed(std::string_view text) { feed(octets(text)); }
  /// What it sends now, in hex.
  std::string output() {
    const auto taken = this->stream.take_output(now);
    this->sent.insert(this->sent.end(), taken.begin(), taken.end());
    this->collect();
    return hex(taken);
  }
  /// A responder in full operation, in the client-server model: no CRC (unless asked for), no
  /// Markers.
  void establish_as_responder(bool crc = false) {
    feed(request(crc ? "40 01 0000" : "00 01 0000"));
    this->stream.accept(1, 1, {}, now);
    (void)output();
  }
};

inline Config plain_config(Role role, bool crc = false) {
  Config config;
  config.role = role;
  config.revision = 1;
  config.crc = crc;
  config.ird = config.ord = 1;
  return config;
}

}  // namespace rnic::stream::test
