// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/framing_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/hex.hpp"

namespace dissectors::analyzer {

namespace wire = rnic::wire;

namespace {

constexpr unsigned low_bits = 0x0003;

/// Whether ULPDU_Length can be trusted: the CRC fits, or the place follows from startup and nothing
/// contradicts it.
bool trusted(const FpduSeen& seen) {
  return seen.crc == Crc::right || (seen.crc != Crc::wrong && seen.certainty == Certainty::certain);
}

std::string marker_text(const MarkerSeen& marker) {
  return fmt::format("Marker {:04x} {:04x} at octet {} of the stream", marker.reserved,
                     marker.fpdu_pointer, marker.offset);
}

/// The offset that a Marker points to; it may lie before the stream.
std::int64_t target(const MarkerSeen& marker) {
  return static_cast<std::int64_t>(marker.offset) -
         static_cast<std::int64_t>(marker.fpdu_pointer & ~low_bits);
}

bool not_last_segment(const FpduSeen& seen) { return seen.segment && !seen.segment->ddp().last(); }

}  // namespace

void FramingRules::fpdu(const FramedFpdu& fpdu, RuleReporter& reporter) {
  const FpduSeen& seen = fpdu.seen;
  if (!seen.pad.empty()) check_pad(fpdu, reporter);
  check_sizes(fpdu, reporter);
  if (!seen.markers.empty()) check_markers(fpdu, reporter);
  if (mss_ != 0) {
    check_alignment(fpdu, reporter);
    check_fullness(fpdu, reporter);
  }
  remember_start(fpdu);
}

void FramingRules::set_limits() {
  const std::size_t largest = mss_ != 0 ? mss_ : largest_emss_;
  for (const bool markers : {false, true}) {
    Limits& it = limits_[markers ? 1 : 0];
    it.most = largest != 0 ? wire::mulpdu(largest, markers) : 0;
    it.now = emss_ != 0 ? wire::mulpdu(emss_, markers) : it.most;
  }
}

void FramingRules::remember_start(const FramedFpdu& fpdu) {
  const std::uint64_t start = fpdu.seen.place.offset + fpdu.shape.length_field();
  const auto markers = fpdu.seen.markers;
  if (markers.empty()) {
    if (!first_behind_marker_) first_behind_marker_ = start;
  } else if (markers.back().offset < start) {
    first_behind_marker_ = start;
  } else {
    first_behind_marker_.reset();
  }
}

void FramingRules::check_pad(const FramedFpdu& fpdu, RuleReporter& reporter) const {
  const Bytes pad = fpdu.seen.pad;
  const bool zero = std::ranges::all_of(pad, [](std::byte octet) { return octet == std::byte{0}; });
  if (!trusted(fpdu.seen)) return;
  fpdu.judged.add(framing::pad_not_zero);
  if (zero) return;
  reporter.broken(framing::pad_not_zero, fpdu.seen.place, "pad " + base::to_hex(pad, " "),
                  "pad octets of 0x00", fpdu.seen.certainty);
}

void FramingRules::check_sizes(const FramedFpdu& fpdu, RuleReporter& reporter) {
  const FpduSeen& seen = fpdu.seen;
  if (!trusted(seen)) return;
  fpdu.judged.add(framing::ulpdu_too_long);
  const auto broken = [&](const Statement& statement, std::size_t most, const std::string& why) {
    reporter.broken(statement, seen.place, fmt::format("a ULPDU of {} octets", fpdu.shape.ulpdu),
                    fmt::format("at most {}{}", most, why), seen.certainty);
  };
  if (fpdu.shape.ulpdu > wire::max_mulpdu) {
    broken(framing::ulpdu_too_long, wire::max_mulpdu, "");
    return;
  }
  const auto [most, now] = limits_[fpdu.shape.markers ? 1 : 0];
  // With an EMSS that leaves less than 128 octets no rule of segmentation need be followed
  // (section 4.5).
  if (now <= wire::min_mulpdu) return;
  fpdu.judged.add(fpdu.shape.markers ? framing::over_mulpdu_with_markers : framing::over_mulpdu);
  if (fpdu.shape.ulpdu <= most) return;
  const std::string why = mss_ != 0
                              ? fmt::format(" by the MSS of {} that the other end announced", mss_)
                              : fmt::format(" by the EMSS of {}", largest_emss_);
  if (fpdu.shape.markers)
    broken(framing::over_mulpdu_with_markers, most, why);
  else
    broken(framing::over_mulpdu, most, why);
}

void FramingRules::check_markers(const FramedFpdu& fpdu, RuleReporter& reporter) const {
  fpdu.judged.add(framing::marker_reserved, framing::marker_low_bits);
  for (const MarkerSeen& marker : fpdu.seen.markers) {
    if (marker.expected == 0)
      fpdu.judged.add(fpdu.first_of_direction ? framing::first_marker : framing::marker_between);
    else
      fpdu.judged.add(framing::marker_layout, framing::marker_zero_within, framing::marker_pointer);
    const bool halves_swapped =
        marker.expected != 0 && marker.reserved == marker.expected && marker.fpdu_pointer == 0;
    if (marker.reserved != 0 && !halves_swapped)
      reporter.broken(framing::marker_reserved, fpdu.seen.place, marker_text(marker),
                      "16 reserved bits of zero", fpdu.seen.certainty);
    const unsigned low = marker.fpdu_pointer & low_bits;
    const bool points_right = (marker.fpdu_pointer & ~low_bits) == marker.expected;
    if (low != 0 && points_right)
      reporter.broken(framing::marker_low_bits, fpdu.seen.place, marker_text(marker),
                      "the two low bits of FPDUPTR zero", fpdu.seen.certainty);
    if (!points_right) check_pointer(fpdu, marker, reporter);
  }
  if (first_behind_marker_) fpdu.judged.add(framing::marker_to_other_fpdu);
  if (fpdu.seen.markers.size() > 1) fpdu.judged.add(framing::markers_disagree);
}

void FramingRules::check_pointer(const FramedFpdu& fpdu, const MarkerSeen& marker,
                                 RuleReporter& reporter) const {
  const unsigned pointer = marker.fpdu_pointer;
  const unsigned swapped = std::byteswap(marker.fpdu_pointer);
  const auto others = fpdu.seen.markers;
  Statement statement = framing::marker_pointer;
  if (marker.expected == 0)
    statement = fpdu.first_of_direction ? Statement(framing::first_marker)
                                        : Statement(framing::marker_between);
  else if (swapped == marker.expected ||
           swapped == marker.expected + wire::marker_size ||  // counted with the leading Marker
           (pointer == 0 && marker.reserved == marker.expected))
    statement = framing::marker_layout;
  else if (pointer == 0)
    statement = framing::marker_zero_within;
  else if (first_behind_marker_ &&
           target(marker) == static_cast<std::int64_t>(*first_behind_marker_))
    statement = framing::marker_to_other_fpdu;
  else if (std::ranges::any_of(others, [&](const MarkerSeen& other) {
             return other.expected != 0 && target(other) != target(marker);
           }))
    statement = framing::markers_disagree;
  reporter.broken(statement, fpdu.seen.place, marker_text(marker),
                  fmt::format("FPDUPTR {:#06x}", marker.expected), fpdu.seen.certainty);
}

bool FramingRules::segments_are_real(const FramedFpdu& fpdu, RuleReporter& reporter) {
  if (offloaded_) return false;
  const std::uint64_t payload = fpdu.last.end - fpdu.last.begin;
  if (payload <= mss_) return true;
  offloaded_ = true;
  reporter.not_judged(
      fpdu.seen.place,
      fmt::format("alignment of FPDUs to segments: {} octets in one segment, more than "
                  "the MSS of {}, so the capture was made before segmentation or "
                  "after reassembly by the NIC",
                  payload, mss_));
  return false;
}

// A sender cannot do what section 5.1 asks where the other end's window ends: TCP sends what fits,
// or a single octet more to learn whether the window is open again.
bool FramingRules::cut_by_window(const FramedFpdu& fpdu) const {
  const auto sequence = [&](std::uint64_t offset) {
    return fpdu.origin_sequence + static_cast<std::uint32_t>(offset);
  };
  const bool probe = fpdu.first.end - fpdu.first.begin == 1;
  return window_.ends_at(sequence(fpdu.first.end)) || window_.ends_at(sequence(fpdu.last.begin)) ||
         (probe && window_.ends_at(sequence(fpdu.first.begin)));
}

void FramingRules::check_alignment(const FramedFpdu& fpdu, RuleReporter& reporter) {
  const FpduSeen& seen = fpdu.seen;
  if (!segments_are_real(fpdu, reporter)) return;
  if (seen.begins_segment) alignment_lost_ = false;
  if (alignment_lost_ || fpdu.follows_hole || !trusted(seen) || seen.place.length > mss_) return;
  fpdu.judged.add(seen.begins_segment ? framing::segment_within_fpdu : framing::packed_in_part);
  if (seen.in_one_segment) return;
  alignment_lost_ = true;
  if (cut_by_window(fpdu)) return;
  const std::string actual = fmt::format(
      "the segment in frame {} begins {} octets within an FPDU of {}", fpdu.last.frame,
      fpdu.last.begin - std::min(fpdu.last.begin, seen.place.offset), seen.place.length);
  reporter.broken(seen.begins_segment ? Statement(framing::segment_within_fpdu)
                                      : Statement(framing::packed_in_part),
                  seen.place, actual,
                  fmt::format("segments that begin with an FPDU: this one fits an MSS of {}", mss_),
                  Certainty::likely);
}

void FramingRules::check_fullness(const FramedFpdu& fpdu, RuleReporter& reporter) {
  const FpduSeen& seen = fpdu.seen;
  if (offloaded_ || !not_last_segment(seen) || !seen.in_one_segment || !seen.ends_segment ||
      !trusted(seen))
    return;
  // TCP options may take up to 40 octets of each segment.
  constexpr std::uint16_t most_options = 40;
  // To avoid silly windows a TCP may send half of the widest window at once, however large a segment
  // may be (RFC 1122 section 4.2.3.4): this is then its EMSS.
  const std::size_t half_window = window_.widest() > 0 ? window_.widest() / 2 : mss_;
  const std::size_t most = std::min<std::size_t>(mss_, half_window);
  if (most <= most_options + wire::min_mulpdu) return;
  const std::size_t emss = most - most_options;
  if (!seen.begins_segment) {
    fpdu.judged.add(framing::chopped_to_fit);
    if (fpdu.shape.ulpdu < wire::min_mulpdu && seen.segment_payload >= emss)
      reporter.broken(framing::chopped_to_fit, seen.place,
                      fmt::format("a segment of a longer message cut to {} octets of ULPDU, which "
                                  "fill a packed TCP segment",
                                  fpdu.shape.ulpdu),
                      "MULPDU of 128 or more: the next TCP segment", Certainty::likely);
    return;
  }
  // Rounding, options or Markers do not leave half a segment free.
  const std::size_t mulpdu = wire::mulpdu(emss, fpdu.shape.markers);
  fpdu.judged.add(framing::half_full);
  if (half_full_ || fpdu.shape.ulpdu > mulpdu * 3 / 4) return;
  half_full_ = true;
  reporter.broken(
      framing::half_full, seen.place,
      fmt::format("a ULPDU of {} octets alone in its TCP segment, and more of the message "
                  "follows (said once for this direction)",
                  fpdu.shape.ulpdu),
      fmt::format("segments of a long message near the MULPDU of {}", mulpdu), Certainty::likely);
}

}  // namespace dissectors::analyzer
