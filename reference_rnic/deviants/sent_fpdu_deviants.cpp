// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of the FPDUs that are sent: their fields, CRCs and Markers (RFC 5044 section 4).
#include <algorithm>
#include <bit>
#include <utility>

#include "reference_rnic/deviants/stream_tables.hpp"

namespace rnic::deviants {
namespace {

using namespace stream;  // NOLINT(google-build-using-namespace): the words of what deviates
using CrcField = std::array<std::byte, wire::fpdu_crc_size>;

// ---- ULPDU_Length, pad, room for the CRC ----

struct LengthCountsPad : Decisions {
  void fpdu_fields(const Negotiated&, FpduFields& fields) override {
    fields.ulpdu_length = static_cast<std::uint16_t>(fields.ulpdu_length + fields.pad_size);
  }
};

struct LengthCountsItself : Decisions {
  void fpdu_fields(const Negotiated&, FpduFields& fields) override {
    fields.ulpdu_length = static_cast<std::uint16_t>(fields.ulpdu_length + wire::fpdu_length_size);
  }
};

struct LengthLittleEndian : Decisions {
  void fpdu_fields(const Negotiated&, FpduFields& fields) override {
    fields.ulpdu_length = std::byteswap(fields.ulpdu_length);
  }
};

struct PadNotZero : Decisions {
  void fpdu_fields(const Negotiated&, FpduFields& fields) override {
    std::fill_n(fields.pad.begin(), fields.pad_size, std::byte{0xA5});
  }
};

/// Markers are at multiples of four octets: without pads their places would be undefined.
struct PadMissing : Decisions {
  void fpdu_fields(const Negotiated& agreed, FpduFields& fields) override {
    if (!agreed.send_markers) fields.pad_size = 0;
  }
};

/// Its octets stay: the receiver finds the last two of the header, zeros, in the place of the pad.
struct HeaderCutByItsLength : Decisions {
  void fpdu_fields(const Negotiated&, FpduFields& fields) override {
    if (fields.ulpdu_length == wire::untagged_header_size)
      fields.ulpdu_length = static_cast<std::uint16_t>(fields.ulpdu_length - 2);
  }
};

struct CrcFieldLeftOut : Decisions {
  void fpdu_fields(const Negotiated& agreed, FpduFields& fields) override {
    if (!agreed.crc) fields.crc_field = false;
  }
};

// ---- the CRC ----

struct CrcNotGenerated : Decisions {
  void crc_leaves(const CrcCoverage&, CrcField& crc) override { crc.fill(std::byte{0}); }
};

struct CrcOctetsReversed : Decisions {
  void crc_leaves(const CrcCoverage&, CrcField& crc) override { std::ranges::reverse(crc); }
};

struct SendsBadCrc : Decisions {
  void crc_leaves(const CrcCoverage&, CrcField& crc) override { crc.front() ^= std::byte{1}; }
};

struct CrcExcludesLengthField : Decisions {
  void crc_leaves(const CrcCoverage& covered, CrcField& crc) override {
    if (covered.markers) return;
    wire::Crc32c shorter;
    shorter.update(covered.pieces.front().subspan(wire::fpdu_length_size));
    for (const wire::Bytes piece : covered.pieces.subspan(1)) shorter.update(piece);
    crc = shorter.trailer();
  }
};

struct CrcExcludesPad : Decisions {
  void crc_leaves(const CrcCoverage& covered, CrcField& crc) override {
    if (covered.markers) return;
    wire::Crc32c shorter;
    for (const wire::Bytes piece : covered.pieces.first(covered.pieces.size() - 1))
      shorter.update(piece);
    crc = shorter.trailer();
  }
};

struct CrcRestartsAtEachPiece : Decisions {
  void crc_leaves(const CrcCoverage& covered, CrcField& crc) override {
    // The header and the pad with at least two pieces of payload.
    if (covered.pieces.size() < 4) return;
    wire::Crc32c last;
    for (const wire::Bytes piece : covered.pieces.last(2)) last.update(piece);
    crc = last.trailer();
  }
};

struct CrcExcludesMarkers : Decisions {
  void crc_leaves(const CrcCoverage& covered, CrcField& crc) override {
    if (!covered.markers) return;
    std::vector<std::byte> stripped(covered.pieces.front().size());
    const auto left = wire::strip_markers(stripped, covered.position, covered.pieces.front());
    crc = wire::Crc32c().update(wire::Bytes(stripped).first(left.length)).trailer();
  }
};

struct CrcExcludesLeadingMarker : Decisions {
  void crc_leaves(const CrcCoverage& covered, CrcField& crc) override {
    if (covered.markers && wire::marker_at(covered.position))
      crc = wire::Crc32c().update(covered.pieces.front().subspan(wire::marker_size)).trailer();
  }
};

struct CrcExcludesMarkerAfterPad : Decisions {
  void crc_leaves(const CrcCoverage& covered, CrcField& crc) override {
    if (!covered.markers) return;
    const wire::Bytes octets = covered.pieces.front();
    const std::size_t shorter = octets.size() - wire::marker_size;
    if (wire::marker_at(covered.position + shorter))
      crc = wire::Crc32c().update(octets.first(shorter)).trailer();
  }
};

// ---- Markers ----

struct MarkerReservedNotZero : Decisions {
  void marker_leaves(bool, wire::Marker& marker) override { marker.reserved = 0x8000; }
};

struct MarkerLowBitsSet : Decisions {
  void marker_leaves(bool, wire::Marker& marker) override {
    marker.fpdu_pointer = static_cast<std::uint16_t>(marker.fpdu_pointer.value() | 1U);
  }
};

struct MarkerPointerWrong : Decisions {
  void marker_leaves(bool within_fpdu, wire::Marker& marker) override {
    if (within_fpdu)
      marker.fpdu_pointer = static_cast<std::uint16_t>(marker.fpdu_pointer.value() ^ 8U);
  }
};

struct MarkerPointerZeroWithin : Decisions {
  void marker_leaves(bool within_fpdu, wire::Marker& marker) override {
    if (within_fpdu) marker.fpdu_pointer = 0;
  }
};

struct MarkerBetweenFpdusNotZero : Decisions {
  void marker_leaves(bool within_fpdu, wire::Marker& marker) override {
    if (!within_fpdu) marker.fpdu_pointer = 4;
  }
};

struct MarkerHalvesExchanged : Decisions {
  void marker_leaves(bool, wire::Marker& marker) override {
    std::swap(marker.reserved, marker.fpdu_pointer);
  }
};

struct MarkerPointsToAnEarlierFpdu : Decisions {
  void fpdu_fields(const Negotiated&, FpduFields& fields) override {
    before_ = std::exchange(size_, wire::fpdu_length_size + fields.ulpdu_length + fields.pad_size +
                                       wire::fpdu_crc_size);
  }
  void marker_leaves(bool within_fpdu, wire::Marker& marker) override {
    if (within_fpdu)
      marker.fpdu_pointer = static_cast<std::uint16_t>(marker.fpdu_pointer.value() + before_);
  }
  /// Of the FPDU that leaves, and of the one before it, without Markers.
  std::size_t size_ = 0, before_ = 0;
};

// ---- TCP ----

struct PartialFpduSentAnew : Decisions {
  void fpdu_continued(std::size_t& at) override { at = 0; }
};

struct CrcNotSentForThePeer : Decisions {
  void framing_agreed(wire::MpaFlags ours, wire::MpaFlags peers, stream::Negotiated&) override {
    only_the_peers_wish_ = peers.crc() && !ours.crc();
  }
  void crc_leaves(const stream::CrcCoverage&,
                  std::array<std::byte, wire::fpdu_crc_size>& crc) override {
    if (only_the_peers_wish_) crc = {};
  }
  bool only_the_peers_wish_ = false;
};

constexpr StreamRow rows[] = {
    stream_row<CrcNotSentForThePeer>(Deviation::crc_not_sent_for_the_peer),
    stream_row<LengthCountsPad>(Deviation::length_counts_pad),
    stream_row<LengthCountsItself>(Deviation::length_counts_itself),
    stream_row<LengthLittleEndian>(Deviation::length_little_endian),
    stream_row<PadNotZero>(Deviation::pad_not_zero),
    stream_row<PadMissing>(Deviation::pad_missing),
    stream_row<CrcFieldLeftOut>(Deviation::crc_field_left_out),
    stream_row<CrcNotGenerated>(Deviation::crc_not_generated),
    stream_row<CrcOctetsReversed>(Deviation::crc_octets_reversed),
    stream_row<SendsBadCrc>(Deviation::sends_bad_crc),
    stream_row<CrcExcludesLengthField>(Deviation::crc_excludes_length_field),
    stream_row<CrcExcludesPad>(Deviation::crc_excludes_pad),
    stream_row<CrcRestartsAtEachPiece>(Deviation::crc_restarts_at_each_piece),
    stream_row<CrcExcludesMarkers>(Deviation::crc_excludes_markers),
    stream_row<CrcExcludesLeadingMarker>(Deviation::crc_excludes_leading_marker),
    stream_row<MarkerReservedNotZero>(Deviation::marker_reserved_not_zero),
    stream_row<MarkerLowBitsSet>(Deviation::marker_low_bits_set),
    stream_row<MarkerPointerWrong>(Deviation::marker_pointer_wrong),
    stream_row<MarkerPointerZeroWithin>(Deviation::marker_pointer_zero_within),
    stream_row<MarkerBetweenFpdusNotZero>(Deviation::marker_between_fpdus_not_zero),
    stream_row<HeaderCutByItsLength>(Deviation::header_cut_by_its_length),
    stream_row<CrcExcludesMarkerAfterPad>(Deviation::crc_excludes_marker_after_pad),
    stream_row<MarkerHalvesExchanged>(Deviation::marker_halves_exchanged),
    stream_row<MarkerPointsToAnEarlierFpdu>(Deviation::marker_points_to_an_earlier_fpdu),
    stream_row<PartialFpduSentAnew>(Deviation::partial_fpdu_sent_anew),
};

}  // namespace

std::span<const StreamRow> sent_fpdu_deviants() { return rows; }

}  // namespace rnic::deviants
