// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Decision points of MPA framing in both directions (RFC 5044 sections 4 to 6).
#pragma once

#include <array>
#include <expected>
#include <optional>
#include <span>
#include <vector>

#include "reference_rnic/stream/choice.hpp"
#include "reference_rnic/stream/config.hpp"
#include "reference_rnic/stream/fault.hpp"
#include "reference_rnic/wire/fpdu.hpp"

namespace rnic::stream {

/// What has come of the FPDU at the front.
struct ArrivedFpdu {
  /// All octets that wait; those of the FPDU are the first of them.
  wire::Bytes octets;
  wire::FpduOptions options;
  /// The octets that the FPDU takes, Markers included. 0: its ULPDU_Length has not come.
  std::size_t wire_size = 0;
  /// `incomplete`: the rest is waited for.
  const std::expected<wire::ParsedFpdu, wire::FpduError>& parsed;
  const Config& config;

  /// Whether FPDUs are gathered and verified before DDP sees them.
  [[nodiscard]] bool verified() const { return options.crc || options.markers; }
};

/// What MPA makes of it.
struct FpduOutcome {
  /// Handed to DDP, in this order.
  std::vector<wire::Bytes> ulpdus;
  /// Reported after these.
  std::optional<Fault> fault;
  /// Octets that are done with. 0: nothing is looked at before more comes.
  std::size_t consumed = 0;
};

/// What MPA adds to a ULPDU (RFC 5044 section 4.1).
struct FpduFields {
  std::uint16_t ulpdu_length = 0;
  std::array<std::byte, 3> pad{};
  std::size_t pad_size = 0;
  bool crc_field = true;
};

/// The octets that a CRC covers (RFC 5044 section 4.4), in order.
struct CrcCoverage {
  /// Without Markers: ULPDU_Length and the ULPDU's header, pieces of payload, the pad. With
  /// Markers: one piece.
  std::span<const wire::Bytes> pieces;
  bool markers = false;
  /// With Markers: of the first octet.
  std::uint64_t position = 0;
};

struct FramingDecisions {
  // -- what is sent --
  /// ULPDU_Length, pad and CRC field of an FPDU (RFC 5044 section 4.1).
  virtual void fpdu_fields(const Negotiated&, FpduFields&) {}
  /// A Marker (RFC 5044 section 4.3), within an FPDU or directly before one.
  virtual void marker_leaves(bool /*within_fpdu*/, wire::Marker&) {}
  /// The CRC (RFC 5044 section 4.4).
  virtual void crc_leaves(const CrcCoverage&, std::array<std::byte, wire::fpdu_crc_size>&) {}
  /// Whether right CRCs are sent though nobody asks for them (RFC 5044 section 4.4).
  virtual void crc_computed(const Choice<bool>&, bool& /*computed*/) {}
  /// The octet at which an FPDU goes on of which TCP has taken the front. Its octets are made once,
  /// and no other point sees what of them is left.
  virtual void fpdu_continued(std::size_t& /*at*/) {}

  // -- what is received --
  /// Whether the CRC of the FPDU at `position` is checked (RFC 5044 section 4.4).
  virtual void crc_checked(const Config&, const Negotiated&, std::uint64_t /*position*/, bool&) {}
  /// The longest FPDU that is taken, Markers left out.
  virtual void longest_fpdu(const Config&, const Range<std::size_t>&, std::size_t& /*octets*/) {}
  /// Whether a segment with a bad CRC or Marker is dropped, to come once more, in place of an error
  /// (RFC 5044 section 8).
  virtual void bad_segment_dropped(const Choice<bool>&, bool& /*dropped*/) {}
  /// Whether a Marker that leads astray is noticed (RFC 5044 section 8).
  virtual void markers_compared(const Choice<bool>&, bool& /*compared*/) {}
  /// What is done with an FPDU, or the part of one, that has come (RFC 5044 sections 6 and 8).
  virtual void fpdu_arrived(const ArrivedFpdu&, FpduOutcome&) {}
  /// What is wrong with a ULPDU that is too short for a DDP header (RFC 5041 section 4).
  virtual void truncated_segment(std::optional<Fault>&) {}
};

}  // namespace rnic::stream
