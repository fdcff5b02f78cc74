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

/// What has arrived of the first FPDU.
struct ArrivedFpdu {
  /// All octets that are waiting; those of the FPDU come first.
  wire::Bytes octets;
  wire::FpduOptions options;
  /// The octets of the FPDU, Markers included. 0: its ULPDU_Length has not arrived.
  std::size_t wire_size = 0;
  /// `incomplete`: the rest is awaited.
  const std::expected<wire::ParsedFpdu, wire::FpduError>& parsed;
  const Config& config;

  /// Whether FPDUs are gathered and verified before DDP sees them.
  [[nodiscard]] bool verified() const { return options.crc || options.markers; }
};

/// What MPA does with it.
struct FpduOutcome {
  /// Passed to DDP, in this order.
  std::vector<wire::Bytes> ulpdus;
  /// Reported after these.
  std::optional<Fault> fault;
  /// Octets that are done. 0: nothing is processed before more arrive.
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
  /// Whether correct CRCs are sent although neither side asks for them (RFC 5044 section 4.4).
  virtual void crc_computed(const Choice<bool>&, bool& /*computed*/) {}
  /// The octet at which an FPDU continues whose beginning TCP has taken. Its octets are made once,
  /// and no other point sees what is left of them.
  virtual void fpdu_continued(std::size_t& /*at*/) {}

  // -- what is received --
  /// Whether the CRC of the FPDU at `position` is checked (RFC 5044 section 4.4).
  virtual void crc_checked(const Config&, const Negotiated&, std::uint64_t /*position*/, bool&) {}
  /// The longest FPDU that is accepted, without its Markers.
  virtual void longest_fpdu(const Config&, const Range<std::size_t>&, std::size_t& /*octets*/) {}
  /// Whether a segment with a bad CRC or Marker is dropped, to come again, instead of being an
  /// error (RFC 5044 section 8).
  virtual void bad_segment_dropped(const Choice<bool>&, bool& /*dropped*/) {}
  /// Whether a Marker with a wrong pointer is noticed (RFC 5044 section 8).
  virtual void markers_compared(const Choice<bool>&, bool& /*compared*/) {}
  /// What is done with a complete or partial FPDU that has arrived (RFC 5044 sections 6 and 8).
  virtual void fpdu_arrived(const ArrivedFpdu&, FpduOutcome&) {}
  /// The fault of a ULPDU that is too short for a DDP header (RFC 5041 section 4).
  virtual void truncated_segment(std::optional<Fault>&) {}
};

}  // namespace rnic::stream
