// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "dissectors/analyzer/framing_rules.hpp"

namespace dissectors::analyzer {

namespace wire = rnic::wire;

namespace {

std::uint32_t number(Bytes octets) { return wire::Reader(octets).read<wire::be32>().value(); }

/// The presumed FPDU's octets in the parts that a sender may put into its CRC or leave out.
struct Parts {
  Bytes covered;  ///< all before the CRC field
  Bytes field;
};

std::optional<Parts> parts_of(Bytes octets, const Shape& shape) {
  const std::size_t size = shape.size();
  if (octets.size() < size) return std::nullopt;
  return Parts{octets.first(size - wire::fpdu_crc_size),
               octets.subspan(size - wire::fpdu_crc_size, wire::fpdu_crc_size)};
}

bool is_crc(const wire::Crc32c& crc, Bytes field) {
  return std::ranges::equal(crc.trailer(), field);
}

/// CRC over the octets; of the Markers, only those for which `marker_wanted(offset)` holds.
template <typename Wanted>
wire::Crc32c crc_with(Bytes covered, const Shape& shape, Wanted&& marker_wanted) {
  wire::Crc32c crc;
  std::size_t from = 0;
  for (std::size_t at = wire::octets_to_marker(shape.position); at < covered.size();
       at += wire::marker_interval) {
    crc.update(covered.subspan(from, at - from));
    const std::size_t end = std::min(at + wire::marker_size, covered.size());
    if (marker_wanted(at)) crc.update(covered.subspan(at, end - at));
    from = end;
  }
  return crc.update(covered.subspan(from));
}

Diagnosis explained(const Shape& shape, Statement broken, std::string actual,
                    std::string admissible) {
  return {.broken = broken,
          .actual = std::move(actual),
          .admissible = std::move(admissible),
          .shape = shape};
}

/// The right octets were covered, but the value was computed or stored in another way.
std::optional<Diagnosis> other_value(const Parts& parts, const Shape& shape) {
  const std::uint32_t right = number(wire::crc32c_trailer(parts.covered));
  const std::uint32_t came = number(parts.field);
  const char* how = came == std::byteswap(right)    ? "the most significant octet first"
                    : came == ~right                ? "not complemented at the end"
                    : came == ~std::byteswap(right) ? "not complemented, octets reversed"
                                                    : nullptr;
  if (how == nullptr) return std::nullopt;
  return explained(shape, framing::crc_value,
                   fmt::format("CRC field {:#010x}: the right CRC32c, {}", came, how),
                   fmt::format("{:#010x}, in the byte order of iSCSI's digests", right));
}

/// The value is a CRC32c over fewer octets than it should be.
std::optional<Diagnosis> other_coverage(const Parts& parts, const Shape& shape) {
  const Bytes covered = parts.covered, field = parts.field;
  const std::string right =
      fmt::format("{:#010x}, over all before the CRC field", number(wire::crc32c_trailer(covered)));
  const auto computed = [&](Statement broken, const char* what) {
    return explained(shape, broken,
                     fmt::format("CRC field {:#010x}: computed {}", number(field), what), right);
  };
  const std::size_t behind_length = shape.length_field() + wire::fpdu_length_size;
  if (is_crc(wire::Crc32c().update(covered.subspan(behind_length)), field))
    return computed(framing::crc_coverage, "without ULPDU_Length");
  if (shape.pad > 0 && !shape.markers &&
      is_crc(wire::Crc32c().update(covered.first(covered.size() - shape.pad)), field))
    return computed(framing::crc_without_pad, "without the pad");
  if (!shape.markers) return std::nullopt;
  if (shape.leading_marker() &&
      is_crc(crc_with(covered, shape, [](std::size_t at) { return at != 0; }), field))
    return computed(framing::crc_without_leading_marker, "without the Marker before ULPDU_Length");
  const std::size_t last = covered.size() - wire::marker_size;
  if (wire::marker_at(shape.position + last) && last > shape.length_field() &&
      is_crc(crc_with(covered, shape, [&](std::size_t at) { return at != last; }), field))
    return computed(framing::crc_without_marker_behind_pad,
                    "without the Marker before the CRC field");
  if (is_crc(crc_with(covered, shape, [](std::size_t) { return false; }), field))
    return computed(framing::crc_without_markers, "without the Markers");
  return std::nullopt;
}

Diagnosis differing_layout(const Shape& shape, Statement broken, std::string actual,
                           std::string admissible) {
  auto result = explained(shape, broken, std::move(actual), std::move(admissible));
  result.layout_differs = true;
  return result;
}

/// A Marker as every sender makes it, in whichever byte order, which points to the front of
/// `octets`, whatever was before.
bool points_to_front(Bytes octets, const Shape& shape) {
  const std::size_t at = wire::octets_to_marker(shape.position);
  if (at + wire::marker_size > std::min(shape.size(), octets.size())) return false;
  const auto marker = wire::Reader(octets.subspan(at)).read<wire::Marker>();
  const std::uint16_t pointer = marker.fpdu_pointer.value();
  return marker.reserved.value() == 0 && (pointer == at || std::byteswap(pointer) == at);
}

/// Whether there is a Marker after ULPDU_Length.
bool has_marker_within(const Shape& shape) {
  const std::size_t at = wire::octets_to_marker(shape.position);
  return shape.markers && at > 0 && at + wire::marker_size <= shape.size();
}

/// ULPDU_Length is not the length of the ULPDU, or the pad is missing.
std::optional<Diagnosis> other_length(Bytes octets, const Shape& presumed) {
  Shape shape = presumed;
  shape.pad = 0;
  if (presumed.pad > 0 && crc_fits(octets, shape))
    return differing_layout(shape, framing::pad_missing,
                            fmt::format("CRC right after {} ULPDU octets", shape.ulpdu),
                            fmt::format("{} pad octets before the CRC", presumed.pad));
  const auto swapped =
      static_cast<std::uint16_t>(std::byteswap(static_cast<std::uint16_t>(presumed.ulpdu)));
  shape = Shape::of(swapped, presumed.markers, presumed.position);
  if (swapped != presumed.ulpdu && crc_fits(octets, shape)) {
    auto result = differing_layout(
        shape, framing::length_swapped,
        fmt::format("ULPDU_Length {:#06x}: little-endian for {} octets", presumed.ulpdu, swapped),
        "network byte order");
    result.length_swapped = true;
    return result;
  }
  // A sender may count the field's own octets, the pad, the CRC and Markers; at most these.
  constexpr std::size_t most = 2 + 3 + 4;
  const std::size_t markers = presumed.markers ? presumed.size() / wire::marker_interval + 1 : 0;
  for (std::size_t excess = 1; excess <= most + markers * wire::marker_size; ++excess) {
    if (excess > most && excess % wire::marker_size != 0) continue;
    if (excess > presumed.ulpdu) break;
    shape = Shape::of(presumed.ulpdu - excess, presumed.markers, presumed.position);
    // One more Marker and a shorter ULPDU give the same octets, so a Marker has to be there.
    if (crc_fits(octets, shape) && (!has_marker_within(shape) || points_to_front(octets, shape)))
      return differing_layout(
          shape, framing::length_counts_more,
          fmt::format("ULPDU_Length {}, {} more than fits the CRC", presumed.ulpdu, excess),
          fmt::format("{}: octets of the ULPDU alone", shape.ulpdu));
  }
  return std::nullopt;
}

/// The shape of the FPDU that begins with `octets` at this position, in a direction with Markers.
std::optional<Shape> shape_at(Bytes octets, std::uint64_t position) {
  const auto length = ulpdu_length(octets, wire::marker_at(position));
  return length && position % 4 == 0 ? std::optional(Shape::of(*length, true, position))
                                     : std::nullopt;
}

/// The shape of the FPDU that begins with `octets` at this position, if it then has Markers in it.
std::optional<Shape> with_markers(Bytes octets, std::uint64_t position) {
  const auto length = ulpdu_length(octets, wire::marker_at(position));
  if (!length) return std::nullopt;
  const Shape shape = Shape::of(*length, true, position);
  const bool any = shape.size() != Shape::of(*length, false, 0).size();
  return any ? std::optional(shape) : std::nullopt;
}

/// Markers where there should be none: of a sender that counts from the front of the direction,
/// else of one that begins in the middle.
std::optional<Shape> shape_with_markers(Bytes octets, std::uint64_t position) {
  // The CRC fits wherever in the FPDU a Marker is presumed: the pointers decide.
  const auto pointed_to = [&](const std::optional<Shape>& shape) {
    return shape && points_to_front(octets, *shape) && crc_fits(octets, *shape);
  };
  const auto from_front = position % 4 == 0 ? with_markers(octets, position) : std::nullopt;
  if (pointed_to(from_front)) return from_front;
  for (std::uint64_t at = 0; at < wire::marker_interval; at += 4)
    if (const auto shape = with_markers(octets, at); pointed_to(shape)) return shape;
  return from_front && crc_fits(octets, *from_front) ? from_front : std::nullopt;
}

/// For a sender that does not count CRC fields among the 512 octets from Marker to Marker. This FPDU or
/// the next one must have such a Marker: without one it looks as if Markers were left out.
std::optional<Shape> shape_without_crcs(Bytes octets, const Shape& presumed,
                                        const MarkerMistakes& mistakes) {
  // Of a position, only the place within the interval counts.
  const std::uint64_t crcs = mistakes.crcs % wire::marker_interval;
  const auto shape = shape_at(octets, presumed.position + wire::marker_interval - crcs);
  if (crcs == 0 || !shape || !crc_fits(octets, *shape)) return std::nullopt;
  if (points_to_front(octets, *shape)) return shape;
  const Bytes rest = octets.subspan(shape->size());
  const auto next = shape_at(rest, shape->position + shape->size() - wire::fpdu_crc_size);
  return next && points_to_front(rest, *next) && crc_fits(rest, *next) ? shape : std::nullopt;
}

std::optional<Diagnosis> crcs_not_counted(Bytes octets, const Shape& presumed,
                                          const MarkerMistakes& mistakes) {
  const auto shape = shape_without_crcs(octets, presumed, mistakes);
  if (!shape) return std::nullopt;
  auto result = explained(*shape, framing::marker_interval,
                          "Markers as if CRC fields took no room in the stream",
                          "Markers at multiples of 512 from the first Marker");
  result.direction_differs = result.crcs_not_counted = true;
  return result;
}

/// Markers are at other places in the whole direction, or missing, or present without being asked
/// for.
std::optional<Diagnosis> other_markers(Bytes octets, const Shape& presumed,
                                       const MarkerMistakes& mistakes) {
  const auto direction = [&](const Shape& shape, Statement broken, std::string actual,
                             std::string admissible) {
    auto result = explained(shape, broken, std::move(actual), std::move(admissible));
    result.direction_differs = true;
    return result;
  };
  if (!presumed.markers) {
    const auto shape = shape_with_markers(octets, presumed.position);
    if (!shape) return std::nullopt;
    return direction(*shape, framing::markers_unrequested,
                     "an FPDU that fits its CRC only with Markers in it",
                     "no Markers: the peer's startup frame has M = 0");
  }
  if (auto found = crcs_not_counted(octets, presumed, mistakes)) return found;
  if (const auto length = ulpdu_length(octets, false)) {
    const Shape shape = Shape::of(*length, false, presumed.position);
    if (crc_fits(octets, shape))
      return direction(shape,
                       presumed.position == 0 ? Statement(framing::markers_missing)
                                              : Statement(framing::markers_stop),
                       "an FPDU that fits its CRC without Markers",
                       "a Marker every 512 octets, the first before the first FPDU");
  }
  const auto shape = shape_at(octets, presumed.position + mistakes.origin_sequence);
  if (!shape || !crc_fits(octets, *shape)) return std::nullopt;
  return direction(*shape, framing::marker_places,
                   "Markers where the TCP sequence number is a multiple of 512",
                   "Markers at multiples of 512 from the first Marker");
}

/// Nothing was computed: the field is as if CRCs were not in use.
std::optional<Diagnosis> no_value(Bytes octets, const Shape& shape) {
  const auto parts = parts_of(octets, shape);
  if (!parts || number(parts->field) != 0 || !plausible_fpdu(octets, shape.markers, shape.position))
    return std::nullopt;
  return explained(
      shape, framing::crc_zero, "zero in place of the CRC",
      fmt::format("{:#010x}: startup has C = 1", number(wire::crc32c_trailer(parts->covered))));
}

}  // namespace

std::optional<Diagnosis> diagnose(Bytes octets, const Shape& presumed,
                                  const MarkerMistakes& mistakes) {
  if (const auto parts = parts_of(octets, presumed)) {
    if (auto found = other_value(*parts, presumed)) return found;
    if (auto found = other_coverage(*parts, presumed)) return found;
  }
  if (auto found = other_length(octets, presumed)) return found;
  if (auto found = other_markers(octets, presumed, mistakes)) return found;
  return no_value(octets, presumed);
}

std::optional<Diagnosis> diagnose_places(Bytes octets, const Shape& presumed,
                                         const MarkerMistakes& mistakes) {
  const std::size_t marker = wire::octets_to_marker(presumed.position);
  if (marker + wire::marker_size > presumed.size() || points_to_front(octets, presumed))
    return std::nullopt;
  return crcs_not_counted(octets, presumed, mistakes);
}

std::optional<std::size_t> longer_reading(Bytes octets, const Shape& presumed,
                                          const MarkerMistakes& mistakes) {
  std::optional<std::size_t> least;
  const auto consider = [&](const Shape& shape) {
    if (shape.size() > octets.size() && (!least || shape.size() < *least) &&
        plausible_fpdu(octets, shape.markers, shape.position))
      least = shape.size();
  };
  const auto consider_markers = [&](std::uint64_t position) {
    const auto shape = with_markers(octets, position);
    if (shape && points_to_front(octets, *shape)) consider(*shape);
  };
  if (!presumed.markers) {
    for (std::uint64_t at = 0; at < wire::marker_interval; at += 4) consider_markers(at);
    return least;
  }
  if (const auto length = ulpdu_length(octets, false))
    consider(Shape::of(*length, false, presumed.position));
  const std::uint64_t crcs = mistakes.crcs % wire::marker_interval;
  for (const std::uint64_t position : {presumed.position + mistakes.origin_sequence,
                                       presumed.position + wire::marker_interval - crcs})
    if (position % 4 == 0) consider_markers(position);
  return least;
}

}  // namespace dissectors::analyzer
