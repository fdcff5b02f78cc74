// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The part of MpaFraming that reads one FPDU at a known place: whether its CRC fits, what explains
// it if it does not, and its parts without the Markers (RFC 5044 sections 4 and 5).
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "dissectors/analyzer/mpa_framing.hpp"

namespace dissectors::analyzer {

namespace wire = rnic::wire;

namespace {

/// How often a direction's layout may turn out to be different.
constexpr int most_relayouts = 4;
/// After this many implausible FPDUs in a row, without a CRC to decide, they are not taken for
/// FPDUs.
constexpr int most_doubtful = 4;
/// This many octets without a Marker show that there are none.
constexpr std::uint64_t shows_no_markers = 2 * wire::marker_interval;

std::uint32_t number(Bytes octets) { return wire::Reader(octets).read<wire::be32>().value(); }

/// Whether a whole DDP header directly follows an FPDU of this shape; the four octets of a CRC
/// field cannot be taken for one.
bool header_follows(Bytes octets, const Shape& shape) {
  constexpr std::size_t shortest = wire::fpdu_length_size + wire::tagged_header_size;
  const std::size_t size = shape.size();
  return octets.size() >= size + shortest && plausible_fpdu(octets.subspan(size), false, 0);
}

/// If only a row of headers showed that FPDUs begin here, an FPDU too short for a header shows that
/// they do not.
bool row_ends(Certainty certainty, const Shape& shape) {
  return certainty == Certainty::likely && shape.ulpdu < wire::tagged_header_size;
}

/// Of the two kinds of header only the one that is there is filled in.
void read_header(FpduSeen& seen) {
  wire::Segment& segment = seen.segment ? *seen.segment : seen.segment.emplace();
  if (!wire::read_segment(seen.ulpdu, segment)) seen.segment.reset();
}

}  // namespace

std::uint64_t MpaFraming::take_fpdu(Half& at, const Piece& piece, const Shape& shape) {
  FpduSeen& seen = scratch_->seen;  // emit() sets the members that are not set here
  seen.crc = Crc::unknown;
  seen.crc_value = seen.crc_expected = 0;
  seen.markers = {};
  const std::size_t size = shape.size();
  seen.ulpdu_length = ulpdu_length(piece.octets, shape.leading_marker()).value_or(0);
  if (piece.octets.size() < size) return take_unconfirmed(at, piece, shape, seen);
  if (at.known.crc == false) {
    seen.crc = Crc::unused;
    return take_unconfirmed(at, piece, without_trailer(at, piece, shape), seen);
  }
  const Bytes covered = piece.octets.first(size - wire::fpdu_crc_size);
  seen.crc_value = number(piece.octets.subspan(covered.size(), wire::fpdu_crc_size));
  seen.crc_expected = number(wire::crc32c_trailer(covered));
  if (seen.crc_value != seen.crc_expected) return unfitting(at, piece, shape, seen);
  seen.crc = Crc::right;
  if (shape.markers)
    if (const auto other = diagnose_places(piece.octets, shape, at.marker_mistakes()))
      return explained(at, piece, *other, seen);
  if (at.known.crc == true) judged_by_crc(at, shape);
  if (at.length_swapped) still_swapped(at, piece, shape);
  at.doubtful = 0;
  emit(at, piece, shape, seen);
  return size;
}

/// What take_fpdu() does with FPDUs that are whole and right, in a direction that is settled. Returns
/// the octets of the chunk before the first that is neither.
std::uint64_t MpaFraming::take_right_fpdus(Half& at, const Chunk& chunk, std::uint64_t done) {
  const SegmentFacts& by = chunk.segment;
  FpduSeen& seen = scratch_->seen;
  seen.crc = Crc::right;
  seen.markers = {};
  seen.segment_payload = static_cast<std::uint32_t>(by.end - by.begin);
  seen.certainty = at.certainty;
  seen.received = by.received;
  while (done < chunk.octets.size()) {
    const Bytes rest = chunk.octets.subspan(static_cast<std::size_t>(done));
    const auto length = ulpdu_length(rest, false);
    if (!length) break;
    const std::uint64_t offset = chunk.offset + done;
    const Shape shape = Shape::of(*length, false, offset - at.origin);
    const std::size_t size = shape.size(), covered = size - wire::fpdu_crc_size;
    if (rest.size() < size) break;
    seen.crc_value = number(rest.subspan(covered));
    seen.crc_expected = number(wire::crc32c_trailer(rest.first(covered)));
    if (seen.crc_value != seen.crc_expected) break;
    judged_by_crc(at, shape);
    at.doubtful = 0;
    seen.place = {at.direction, offset, size, by.frame, by.frame, by.time};
    seen.ulpdu_length = *length;
    seen.ulpdu = rest.subspan(wire::fpdu_length_size, shape.ulpdu);
    seen.pad = rest.subspan(wire::fpdu_length_size + shape.ulpdu, shape.pad);
    seen.begins_segment = offset == by.begin;
    seen.ends_segment = offset + size == by.end;
    seen.in_one_segment = offset >= by.begin;
    read_header(seen);
    pass_on(at, {.seen = seen,
                 .shape = shape,
                 .first = by,
                 .last = by,
                 .follows_hole = at.follows_hole,
                 .judged = judged(at.direction),
                 .origin_sequence = at.origin_sequence});
    at.follows_hole = false;
    at.crcs += shape.trailer;
    done += size;
  }
  return done;
}

/// One that no CRC confirms.
std::uint64_t MpaFraming::take_unconfirmed(Half& at, const Piece& piece, const Shape& shape,
                                           FpduSeen& seen) {
  if (plausible_fpdu(piece.octets, shape.markers, shape.position))
    at.doubtful = 0;
  else if (++at.doubtful >= most_doubtful || row_ends(at.certainty, shape))
    return unexplained(at, piece, shape, seen);
  emit(at, piece, shape, seen);
  return shape.size();
}

/// Adds the statements that a right CRC shows to be kept: had one been broken, the CRC would not
/// fit.
void MpaFraming::judged_by_crc(Half& at, const Shape& shape) {
  CheckSet& judged = this->judged(at.direction);
  judged.add(framing::crc_wrong, framing::crc_zero, framing::crc_value, framing::crc_coverage,
             framing::length_counts_more, framing::length_swapped, framing::no_fpdu);
  if (shape.pad > 0) judged.add(framing::pad_missing, framing::crc_without_pad);
  if (!at.any_fpdu && at.certainty == Certainty::certain)
    judged.add(shape.markers ? framing::no_marker_at_front : framing::no_fpdu_at_front);
  if (!shape.markers) {
    // There would have been a Marker before the first FPDU.
    if (!at.any_fpdu && at.known.markers == false) judged.add(framing::markers_unrequested);
    return;
  }
  if (shape.size() == Shape::of(shape.ulpdu, false, 0).size()) return;
  judged.add(framing::crc_without_markers, framing::marker_places, framing::marker_interval,
             shape.position == 0 ? framing::markers_missing : framing::markers_stop);
  if (shape.leading_marker()) judged.add(framing::crc_without_leading_marker);
  const std::uint64_t last =
      shape.position + shape.size() - wire::fpdu_crc_size - wire::marker_size;
  if (wire::marker_at(last) && last > shape.position)
    judged.add(framing::crc_without_marker_behind_pad);
}

std::uint64_t MpaFraming::unfitting(Half& at, const Piece& piece, const Shape& shape,
                                    FpduSeen& seen) {
  if (!at.known.markers && at.known.crc == true) {
    // Markers may have begun: the search looks for them.
    at.phase = Phase::searching;
    return 0;
  }
  if (!at.known.crc) {
    seen.crc = Crc::unknown;
    const bool plausible = plausible_fpdu(piece.octets, shape.markers, shape.position);
    at.doubtful = plausible ? 0 : at.doubtful + 1;
    if (at.doubtful >= most_doubtful || (!plausible && row_ends(at.certainty, shape)))
      return unexplained(at, piece, shape, seen);
    emit(at, piece, shape, seen);
    return shape.size();
  }
  seen.crc = Crc::wrong;
  if (at.diagnoses++ < most_diagnoses) {
    const MarkerMistakes mistakes = at.marker_mistakes();
    if (const auto diagnosis = diagnose(piece.octets, shape, mistakes))
      return explained(at, piece, *diagnosis, seen);
    if (const auto longer = longer_reading(piece.octets, shape, mistakes))
      return await(at, piece, *longer);
  }
  return unexplained(at, piece, shape, seen);
}

/// The octets that show whether there are Markers in this FPDU are still to come.
std::uint64_t MpaFraming::await(Half& at, const Piece& piece, std::size_t octets) {
  Assembly& assembly = at.assembly;
  assembly = {.octets = {piece.octets.begin(), piece.octets.end()},
              .begin = piece.offset,
              .length = piece.length,
              .awaited = octets,
              .first = piece.first,
              .last = piece.last,
              .active = true};
  if (assembly.cut())
    lose(at,
         {at.direction, piece.offset, piece.length, piece.first.frame, piece.last.frame,
          piece.last.time},
         "the capture cut the octets that show whether there are Markers in an FPDU");
  return piece.length;
}

std::uint64_t MpaFraming::explained(Half& at, const Piece& piece, const Diagnosis& diagnosis,
                                    FpduSeen& seen) {
  const Place place{at.direction,      piece.offset,     diagnosis.shape.size(),
                    piece.first.frame, piece.last.frame, piece.last.time};
  if (diagnosis.direction_differs && diagnosis.shape.markers && !at.known.markers.value_or(false))
    markers_begin(at, place, diagnosis.actual);
  else
    broken(diagnosis.broken, place, diagnosis.actual, diagnosis.admissible, at.certainty);
  if (diagnosis.direction_differs) {
    if (at.relayouts++ >= most_relayouts) {
      lose(at, place, "Markers come and go");
      return piece.length;
    }
    at.known.markers = diagnosis.shape.markers;
    at.origin = piece.offset - diagnosis.shape.position;
    at.crcs_not_counted = diagnosis.crcs_not_counted;
    at.crcs = 0;
    return take_fpdu(at, piece, diagnosis.shape);
  }
  if (diagnosis.layout_differs) seen.crc = Crc::right;
  at.length_swapped = at.length_swapped != diagnosis.length_swapped;
  emit(at, piece, diagnosis.shape, seen);
  return diagnosis.shape.size();
}

std::uint64_t MpaFraming::unexplained(Half& at, const Piece& piece, const Shape& shape,
                                      FpduSeen& seen) {
  const Place place{at.direction,      piece.offset,     shape.size(),
                    piece.first.frame, piece.last.frame, piece.last.time};
  if (plausible_fpdu(piece.octets, shape.markers, shape.position)) {
    if (seen.crc == Crc::wrong)
      broken(framing::crc_wrong, place, fmt::format("CRC field {:#010x}", seen.crc_value),
             fmt::format("{:#010x}", seen.crc_expected), at.certainty);
    emit(at, piece, shape, seen);
    return shape.size();
  }
  if (at.certainty == Certainty::certain) {
    Statement rules = framing::no_fpdu;
    if (!at.any_fpdu)
      rules = shape.markers ? Statement(framing::no_marker_at_front)
                            : Statement(framing::no_fpdu_at_front);
    broken(rules, place, "neither a DDP header nor a CRC fits the octets here",
           "an FPDU: ULPDU_Length, ULPDU, pad, CRC", Certainty::likely);
  }
  at.known.markers.reset();  // the search takes what fits
  lose(at, place, "the octets here are no FPDU");
  return 0;
}

/// Markers in a direction that had none. Only the other end's startup frame shows whether they are
/// wrong (RFC 5044 section 7.1.1) or were left out before.
void MpaFraming::markers_begin(Half& at, const Place& place, std::string actual) {
  const auto& asked_by = peer(at).startup;
  if (!asked_by) {
    not_judged(place, "Markers begin, and the startup frame that asks for them was not seen");
  } else if (!asked_by->flags.markers() && !std::exchange(at.unrequested_reported, true)) {
    broken(framing::markers_unrequested, place, std::move(actual),
           "no Markers: the peer's startup frame has M = 0", at.certainty);
  }
}

void MpaFraming::still_swapped(const Half& at, const Piece& piece, const Shape& shape) {
  broken(framing::length_swapped,
         {at.direction, piece.offset, shape.size(), piece.first.frame, piece.last.frame,
          piece.last.time},
         fmt::format("ULPDU_Length little-endian for {} octets", shape.ulpdu), "network byte order",
         at.certainty);
}

Shape MpaFraming::without_trailer(Half& at, const Piece& piece, const Shape& shape) {
  if (at.no_crc_field) return still_without_trailer(at, piece, shape);
  if (shape.markers) return shape;
  const std::size_t size = shape.size();
  Shape bare = shape;
  bare.trailer = 0;
  const auto fpdu_at = [&](std::size_t index) {
    return plausible_fpdu(piece.octets.subspan(index), false, 0);
  };
  if (piece.octets.size() > size && fpdu_at(size))
    judged(at.direction).add(framing::crc_field_missing);
  const bool another_follows = piece.octets.size() >= size + wire::fpdu_crc_size
                                   ? !fpdu_at(size)
                                   : piece.last.begin == piece.offset + bare.size();
  if (!another_follows || !fpdu_at(bare.size()) || crc_fits(piece.octets, shape)) return shape;
  const Place place{at.direction,      piece.offset,     bare.size(),
                    piece.first.frame, piece.last.frame, piece.last.time};
  crc_field_missing(place, "the next FPDU is where the CRC field should be",
                    header_follows(piece.octets, bare) ? at.certainty : Certainty::likely);
  at.no_crc_field = true;
  return bare;
}

/// After an FPDU without a CRC field the next ones have none either, unless this one shows it.
Shape MpaFraming::still_without_trailer(Half& at, const Piece& piece, const Shape& shape) {
  const Bytes next = piece.octets.subspan(std::min(shape.size(), piece.octets.size()));
  if (next.size() > wire::fpdu_crc_size && !plausible_fpdu(next, false, 0) &&
      plausible_fpdu(next.subspan(wire::fpdu_crc_size), false, 0)) {
    at.no_crc_field = false;
    return Shape::of(shape.ulpdu, shape.markers, shape.position);
  }
  crc_field_missing({at.direction, piece.offset, shape.size(), piece.first.frame, piece.last.frame,
                     piece.last.time},
                    "no CRC field, as before",
                    header_follows(piece.octets, shape) ? at.certainty : Certainty::likely);
  return shape;
}

void MpaFraming::crc_field_missing(const Place& place, std::string actual, Certainty certainty) {
  broken(framing::crc_field_missing, place, std::move(actual),
         "a CRC field of four octets, also where CRCs are not in use", certainty);
}

void MpaFraming::emit(Half& at, const Piece& piece, const Shape& shape, FpduSeen& seen) {
  const std::size_t size = shape.size();
  const Bytes octets = piece.octets.first(std::min(size, piece.octets.size()));
  seen.place = {at.direction,      piece.offset,     size,
                piece.first.frame, piece.last.frame, piece.last.time};
  seen.begins_segment = piece.offset == piece.first.begin;
  seen.ends_segment = piece.offset + size == piece.last.end;
  seen.in_one_segment = piece.offset >= piece.last.begin;
  seen.segment_payload = static_cast<std::uint32_t>(piece.last.end - piece.last.begin);
  // A length that neither a CRC nor a header confirms may not be one: what follows is in doubt as well.
  if (at.doubtful > 0 && seen.crc == Crc::unknown) at.certainty = Certainty::likely;
  seen.certainty = at.certainty;
  seen.received = piece.first.received;
  split(octets, shape, piece.offset, seen);
  read_header(seen);
  pass_on(at, {.seen = seen,
               .shape = shape,
               .first = piece.first,
               .last = piece.last,
               .first_of_direction = !at.any_fpdu && at.certainty == Certainty::certain,
               .follows_hole = at.follows_hole,
               .judged = judged(at.direction),
               .origin_sequence = at.origin_sequence});
  after_fpdu(at, shape);
}

void MpaFraming::pass_on(Half& at, const FramedFpdu& fpdu) {
  at.rules.fpdu(fpdu, *this);
  listener_->fpdu(fpdu.seen);
}

void MpaFraming::split(Bytes octets, const Shape& shape, std::uint64_t offset, FpduSeen& seen) {
  Bytes bare = octets;
  scratch_->markers.clear();
  if (shape.markers) {
    const std::uint64_t start = shape.position + shape.length_field();
    std::size_t written = 0, from = 0;
    const auto copy = [&](std::size_t until) {
      std::ranges::copy(octets.subspan(from, until - from),
                        scratch_->octets.begin() + static_cast<std::ptrdiff_t>(written));
      written += until - from;
    };
    for (std::size_t at = wire::octets_to_marker(shape.position);
         at + wire::marker_size <= octets.size(); at += wire::marker_interval) {
      const auto marker = wire::Reader(octets.subspan(at)).read<wire::Marker>();
      const std::uint64_t position = shape.position + at;
      scratch_->markers.push_back(
          {.offset = offset + at,
           .reserved = marker.reserved.value(),
           .fpdu_pointer = marker.fpdu_pointer.value(),
           .expected = static_cast<std::uint16_t>(position < start ? 0 : position - start)});
      copy(at);
      from = at + wire::marker_size;
    }
    copy(octets.size());
    bare = Bytes(scratch_->octets).first(written);
    seen.markers = scratch_->markers;
  }
  const Bytes behind_length = bare.subspan(std::min(bare.size(), wire::fpdu_length_size));
  seen.ulpdu = behind_length.first(std::min(behind_length.size(), shape.ulpdu));
  const Bytes rest = behind_length.subspan(seen.ulpdu.size());
  seen.pad = rest.first(std::min(rest.size(), shape.pad));
}

void MpaFraming::after_fpdu(Half& at, const Shape& shape) {
  at.any_fpdu = true;
  at.follows_hole = false;
  (at.crcs_not_counted ? at.origin : at.crcs) += shape.trailer;
  if (!at.known.markers) {
    at.without_marker += shape.size();
    if (at.without_marker >= shows_no_markers) at.known.markers = false;
  }
}

}  // namespace dissectors::analyzer
