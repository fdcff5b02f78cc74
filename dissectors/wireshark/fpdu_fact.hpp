// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of one FPDU.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dissectors/analyzer/events.hpp"
#include "reference_rnic/wire/fpdu.hpp"
#include "reference_rnic/wire/rdmap.hpp"

namespace dissectors::wireshark {

/// Octets from the analyzer: their place in the frame, or a copy if they are in several frames or
/// between Markers.
struct KeptOctets {
  std::uint32_t offset = 0;  ///< in the frame; meaningful if `in_frame`
  std::uint32_t length = 0;
  bool in_frame = false;
  std::vector<std::byte> copy;  ///< `length` octets if not `in_frame`
};

struct FpduFact {
  /// What directly follows `ulpdu` and `pad` in its frame, as a CRC.
  [[nodiscard]] std::optional<std::uint32_t> crc_after(std::span<const std::byte> frame) const {
    const std::size_t at = std::size_t{ulpdu.offset} + ulpdu.length + pad.size();
    if (frame.size() < at + rnic::wire::fpdu_crc_size) return std::nullopt;
    return rnic::wire::Reader(frame.subspan(at)).read<rnic::wire::be32>().value();
  }

  analyzer::Place place;
  std::uint16_t ulpdu_length = 0;
  KeptOctets ulpdu;
  std::vector<std::byte> pad;
  analyzer::Crc crc = analyzer::Crc::unknown;
  std::uint32_t crc_value = 0, crc_expected = 0;
  bool crc_in_frame = false;  ///< right, and what `crc_after` reads
  std::vector<analyzer::MarkerSeen> markers;
  bool begins_segment = false, ends_segment = false, in_one_segment = false;
  analyzer::Certainty certainty = analyzer::Certainty::certain;
  // About its message.
  bool has_segment = false, tagged = false;
  bool first_segment = false, last_segment = false;
  rnic::wire::Opcode opcode{};
  std::uint64_t message = 0, message_octets = 0, payload_octets = 0;
  std::uint32_t request_frame = 0;  ///< 0: it answers no request that was seen
  std::uint64_t response_time = 0;  ///< nanoseconds
  std::uint32_t blamed_frame = 0;   ///< of the segment that this Terminate blames; 0: none
  std::uint32_t joined_in = 0;      ///< the frame that shows the message as a whole; 0: none
  /// If it is a whole message that concerns the layers above: MessageFact::exchange. 0: it is not.
  std::uint32_t exchange = 0;
};

}  // namespace dissectors::wireshark
