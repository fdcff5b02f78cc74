// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/segment_cuts.hpp"

namespace plugfest {

namespace analyzer = dissectors::analyzer;

void SegmentCuts::lost(std::uint64_t connection, const analyzer::Place& place) {
  streams_[{connection, place.direction}].told = place.offset;
}

/// An FPDU fits a segment, so that each segment either begins with one or holds the end of one.
void SegmentCuts::fpdu(std::uint64_t connection, const std::optional<Side>& sender,
                       const analyzer::FpduSeen& seen) {
  Stream& stream = streams_[{connection, seen.place.direction}];
  Cuts& cuts = sides_[sender];
  cuts.side = sender;
  if (seen.begins_segment) {
    stream.lost = false;
    ++cuts.segments;
  }
  if (seen.in_one_segment) return;
  if (stream.told == seen.place.offset) stream.lost = true;
  if (!stream.lost) return;  // neither side's choice
  ++cuts.segments;
  if (cuts.within++ == 0) cuts.frame = seen.place.last_frame;
}

std::vector<Cuts> SegmentCuts::counted() const {
  std::vector<Cuts> all;
  for (const auto& [side, cuts] : sides_)
    if (cuts.segments > 0) all.push_back(cuts);
  return all;
}

}  // namespace plugfest
