// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/wire/markers.hpp"

#include <cassert>

namespace rnic::wire {

MarkerWalk::MarkerWalk(std::uint64_t position)
    : position_(position), fpdu_start_(marker_at(position) ? position + marker_size : position) {
  assert(position % 4 == 0 && "FPDUs and Markers are multiples of four octets");
}

Marker MarkerWalk::marker() const {
  const std::uint64_t distance = position_ < fpdu_start_ ? 0 : position_ - fpdu_start_;
  return {.reserved = std::uint16_t{0}, .fpdu_pointer = static_cast<std::uint16_t>(distance)};
}

std::size_t MarkerWalk::pass(std::size_t length) {
  const std::size_t passed = std::min(length, octets_to_marker(position_));
  position_ += passed;
  return passed;
}

std::size_t length_with_markers(std::uint64_t position, std::size_t length) {
  const std::size_t before_first = octets_to_marker(position);
  if (length <= before_first) return length;
  constexpr std::size_t between = marker_interval - marker_size;
  const std::size_t markers = 1 + (length - before_first - 1) / between;
  return length + markers * marker_size;
}

void insert_markers(Writer& out, std::uint64_t position, Bytes fpdu) {
  MarkerWalk walk(position);
  while (!fpdu.empty()) {
    if (walk.at_marker()) {
      out.write(walk.marker());
      walk.pass_marker();
    }
    const std::size_t passed = walk.pass(fpdu.size());
    out.write(fpdu.first(passed));
    fpdu = fpdu.subspan(passed);
  }
}

namespace {

/// What is wrong with `seen` where `expected` should stand. The two low bits of FPDUPTR are
/// reserved and count as zero in the pointer (section 4.3).
MarkerError examine(const Marker& seen, const Marker& expected) {
  constexpr unsigned pointer_mask = 0xFFFC;
  const unsigned pointer = seen.fpdu_pointer.value();
  if ((pointer & pointer_mask) != expected.fpdu_pointer.value()) return MarkerError::wrong_pointer;
  if (seen.reserved.value() != 0 || (pointer & ~pointer_mask) != 0)
    return MarkerError::reserved_not_zero;
  return MarkerError::none;
}

MarkerError graver(MarkerError one, MarkerError other) {
  if (one == MarkerError::none) return other;
  return other == MarkerError::wrong_pointer ? other : one;
}

}  // namespace

StrippedMarkers strip_markers(MutableBytes out, std::uint64_t position, Bytes input) {
  StrippedMarkers result{};
  MarkerWalk walk(position);
  Reader in(input);
  Writer writer(out);
  while (!in.rest().empty()) {
    if (walk.at_marker()) {
      const auto marker = in.read<Marker>();
      if (in.truncated()) break;
      result.error = graver(result.error, examine(marker, walk.marker()));
      ++result.markers;
      walk.pass_marker();
    }
    writer.write(in.take(walk.pass(in.rest().size())));
  }
  assert(!writer.overflowed() && "the output must hold the input without its Markers");
  result.length = writer.size();
  return result;
}

}  // namespace rnic::wire
