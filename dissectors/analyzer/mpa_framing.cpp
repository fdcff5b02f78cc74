// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the parts of the framing share, and FPDUs whose place is known. Startup frames are in
// startup_framing.cpp, the search for lost FPDUs in resynchronisation.cpp.
#include "dissectors/analyzer/mpa_framing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace dissectors::analyzer {

namespace wire = rnic::wire;

namespace {

/// Wrong CRCs of one direction that are looked into: a stream of nothing else must cost no more.
constexpr int most_diagnoses = 256;
/// Times that a direction's layout may turn out to be another.
constexpr int most_relayouts = 4;
/// Implausible FPDUs in a row, without a CRC to tell, until they are no longer believed.
constexpr int most_doubtful = 4;
/// Octets without a Marker that show that there are none.
constexpr std::uint64_t shows_no_markers = 2 * wire::marker_interval;

/// What is left of a chunk after `done` octets.
Chunk behind(const Chunk& chunk, std::uint64_t done) {
  const std::size_t captured =
      static_cast<std::size_t>(std::min<std::uint64_t>(done, chunk.octets.size()));
  return {chunk.offset + done, chunk.length - done, chunk.octets.subspan(captured), chunk.segment};
}

std::uint32_t number(Bytes octets) { return wire::Reader(octets).read<wire::be32>().value(); }

/// Where only a row of headers said that FPDUs begin here, an FPDU without room for one says that they
/// do not.
bool row_ends(Certainty certainty, const Shape& shape) {
  return certainty == Certainty::likely && shape.ulpdu < wire::tagged_header_size;
}

}  // namespace

MpaFraming::MpaFraming(FramingListener& listener, FramingScratch& scratch, JudgedChecks& judged,
                       bool pick_up)
    : listener_(&listener), scratch_(&scratch), judged_(&judged), pick_up_(pick_up) {
  halves_[1].direction = Direction::from_second;
}

void MpaFraming::announced_mss(Direction from, std::uint16_t mss) {
  half(opposite(from)).rules.announced_mss(mss);
}

void MpaFraming::advertised(Direction from, const capture::Segment& segment) {
  half(opposite(from)).rules.window().advertised(segment);
  if (segment.syn) half(from).rules.window().other_end_scales(segment.window_scale.has_value());
}

void MpaFraming::begins(Direction direction, bool from_syn, std::uint32_t origin_sequence) {
  half(direction).from_syn = from_syn;
  half(direction).origin_sequence = origin_sequence;
}

void MpaFraming::octets(Direction direction, const Chunk& chunk) {
  Half& at = half(direction);
  if (at.unread > 0) {
    const std::uint64_t passed = std::min(at.unread, chunk.length);
    at.unread -= passed;
    at.origin += passed;
    if (passed < chunk.length) octets(direction, behind(chunk, passed));
    return;
  }
  switch (at.phase) {
    case Phase::startup:
      startup_octets(at, chunk);
      break;
    case Phase::awaiting_peer:
      set_aside(at, chunk);
      break;
    case Phase::operation:
      operate(at, chunk);
      break;
    case Phase::searching:
      search(at, chunk);
      break;
    case Phase::given_up:
      look_for_startup(at, chunk);
      break;
  }
}

void MpaFraming::hole(Direction direction, std::uint64_t offset, std::uint64_t length,
                      const SegmentFacts& by) {
  Half& at = half(direction);
  const Place place{direction, offset, length, by.frame, by.frame, by.time};
  switch (at.phase) {
    case Phase::startup:
      at.assembly = {};
      at.startup_lost = true;
      at.phase = Phase::searching;
      if (peer(at).phase == Phase::awaiting_peer) settle_without_peer(peer(at));
      return;
    case Phase::awaiting_peer:
      at.store = {};
      at.follows_hole = true;
      return;
    case Phase::operation: {
      // A hole within an FPDU whose end is known leaves the next one where it is.
      const auto shape =
          at.assembly.active ? presumed(at, at.assembly.octets, at.assembly.begin) : std::nullopt;
      if (shape && at.assembly.begin + shape->size() >= offset + length)
        operate(at, {offset, length, {}, {offset, offset + length, by.frame, by.time}});
      else
        lose(at, place, "octets are missing from the capture");
      return;
    }
    case Phase::searching:
      at.store = {};
      at.scanned = 0;
      at.aligned_cuts = 0;
      listener_->hole(direction, place);
      return;
    case Phase::given_up:
      return;
  }
}

void MpaFraming::finish(Direction direction, Rest rest) {
  Half& at = half(direction);
  at.capture_over = rest == Rest::unknown;
  if (at.phase == Phase::startup && at.assembly.octets.size() >= wire::mpa_frame_header_size)
    take_startup_frame(at, at.assembly.octets.size());
  if (at.phase == Phase::awaiting_peer && !at.store.octets.empty()) settle_without_peer(at);
  if (at.phase == Phase::searching) find(at, true);
  if (at.phase == Phase::operation && (rest == Rest::all_seen || rest == Rest::none_comes))
    judged(direction).add(framing::fpdu_unfinished);
  if (at.phase == Phase::operation && at.assembly.active) finish_assembly(at, rest);
}

std::size_t MpaFraming::memory() const {
  std::size_t octets = 0;
  for (const Half& at : halves_)
    octets += at.assembly.octets.capacity() + at.store.octets.capacity() +
              at.store.pieces.capacity() * sizeof(Chunk);
  return octets;
}

void MpaFraming::operate(Half& at, const Chunk& chunk) {
  std::uint64_t done = 0;
  while (done < chunk.length && at.phase == Phase::operation) {
    const Chunk rest = behind(chunk, done);
    if (at.assembly.active) {
      done += assemble(at, rest);
      continue;
    }
    if (!at.any_fpdu && skip_startup_crc(at, rest)) {
      done += wire::fpdu_crc_size;
      continue;
    }
    const auto shape = presumed(at, rest.octets, rest.offset);
    if (!shape && rest.octets.size() < rest.length) {
      const SegmentFacts& by = rest.segment;
      lose(at, {at.direction, rest.offset, rest.length, by.frame, by.frame, by.time},
           "the capture cut a frame before the length of an FPDU");
      return;
    }
    if (!shape || shape->size() > rest.length) {
      begin_assembly(at, rest);
      return;
    }
    done +=
        take_fpdu(at, {rest.octets, rest.offset, rest.length, rest.segment, rest.segment}, *shape);
  }
  if (done < chunk.length) octets(at.direction, behind(chunk, done));
}

void MpaFraming::begin_assembly(Half& at, const Chunk& chunk) {
  Assembly& assembly = at.assembly;
  assembly.octets.assign(chunk.octets.begin(), chunk.octets.end());
  assembly.begin = chunk.offset;
  assembly.length = chunk.length;
  assembly.first = assembly.last = chunk.segment;
  assembly.awaited = 0;
  assembly.active = true;
}

std::uint64_t MpaFraming::assemble(Half& at, const Chunk& chunk) {
  Assembly& assembly = at.assembly;
  auto shape = presumed(at, assembly.octets, assembly.begin);
  if (!shape && (assembly.cut() || chunk.octets.empty())) {
    const SegmentFacts& by = chunk.segment;
    lose(at,
         {at.direction, assembly.begin, assembly.length, assembly.first.frame, by.frame, by.time},
         "the length of an FPDU was not captured");
    return 0;
  }
  // Octet by octet until the length is there: it is one octet, or up to six.
  const std::uint64_t size =
      shape ? std::max<std::uint64_t>(shape->size(), assembly.awaited) : assembly.length + 1;
  const std::uint64_t taken = std::min(size - assembly.length, chunk.length);
  if (!assembly.cut()) {
    if (shape) assembly.octets.reserve(size);
    const auto captured =
        static_cast<std::size_t>(std::min<std::uint64_t>(taken, chunk.octets.size()));
    assembly.octets.insert(assembly.octets.end(), chunk.octets.begin(),
                           chunk.octets.begin() + static_cast<std::ptrdiff_t>(captured));
  }
  assembly.length += taken;
  assembly.last = chunk.segment;
  if (!shape || assembly.length < size) return taken;

  Assembly whole = std::move(assembly);
  assembly = {};
  const std::uint64_t used =
      take_fpdu(at, {whole.octets, whole.begin, whole.length, whole.first, whole.last}, *shape);
  if (used < whole.length)
    octets(at.direction, behind({whole.begin, whole.length, whole.octets, whole.last}, used));
  // The room serves the next FPDU.
  if (assembly.octets.capacity() == 0 && at.phase == Phase::operation) {
    whole.octets.clear();
    assembly.octets = std::move(whole.octets);
  }
  return taken;
}

std::optional<Shape> MpaFraming::presumed(const Half& at, Bytes octets,
                                          std::uint64_t offset) const {
  const bool markers = at.known.markers.value_or(false);
  const std::uint64_t position = offset - at.origin;
  const auto length = ulpdu_length(octets, markers && wire::marker_at(position));
  if (!length) return std::nullopt;
  Shape shape = Shape::of(at.length_swapped ? std::byteswap(*length) : *length, markers, position);
  if (at.no_crc_field) shape.trailer = 0;
  return shape;
}

std::uint64_t MpaFraming::take_fpdu(Half& at, const Piece& piece, Shape shape) {
  FpduSeen seen;
  const std::size_t size = shape.size();
  seen.ulpdu_length = ulpdu_length(piece.octets, shape.leading_marker()).value_or(0);
  if (piece.octets.size() < size) {
    seen.crc = Crc::unknown;
  } else if (at.known.crc == false) {
    seen.crc = Crc::unused;
    shape = without_trailer(at, piece, shape);
  } else {
    const Bytes covered = piece.octets.first(size - wire::fpdu_crc_size);
    seen.crc_value = number(piece.octets.subspan(covered.size(), wire::fpdu_crc_size));
    seen.crc_expected = number(wire::crc32c_trailer(covered));
    if (seen.crc_value != seen.crc_expected) return unfitting(at, piece, shape, seen);
    seen.crc = Crc::right;
    if (at.known.crc == true) judged_by_crc(at, shape);
    if (at.length_swapped) still_swapped(at, piece, shape);
  }
  if (seen.crc != Crc::right && !plausible_fpdu(piece.octets, shape.markers, shape.position)) {
    if (++at.doubtful >= most_doubtful || row_ends(at.certainty, shape))
      return unexplained(at, piece, shape, seen);
  } else {
    at.doubtful = 0;
  }
  emit(at, piece, shape, seen);
  return shape.size();
}

/// What a right CRC shows, over all that its FPDU is made of: had one of these gone wrong, it would not
/// fit.
void MpaFraming::judged_by_crc(Half& at, const Shape& shape) {
  CheckSet& judged = this->judged(at.direction);
  judged.add(framing::crc_wrong, framing::crc_zero, framing::crc_value, framing::crc_coverage,
             framing::length_counts_more, framing::length_swapped, framing::no_fpdu);
  if (shape.pad > 0) judged.add(framing::pad_missing, framing::crc_without_pad);
  if (!at.any_fpdu && at.certainty == Certainty::certain)
    judged.add(shape.markers ? framing::no_marker_at_front : framing::no_fpdu_at_front);
  if (!shape.markers) {
    // A Marker would have stood before the first FPDU.
    if (!at.any_fpdu && at.known.markers == false) judged.add(framing::markers_unrequested);
    return;
  }
  if (shape.size() == Shape::of(shape.ulpdu, false, 0).size()) return;
  judged.add(framing::crc_without_markers, framing::marker_places,
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
    // Markers may have begun to tell: the search knows them.
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
    const auto sequence = static_cast<std::uint32_t>(at.origin_sequence + at.origin);
    if (const auto diagnosis = diagnose(piece.octets, shape, sequence))
      return explained(at, piece, *diagnosis, seen);
    if (const auto longer = longer_reading(piece.octets, shape, sequence))
      return await(at, piece, *longer);
  }
  return unexplained(at, piece, shape, seen);
}

/// What tells whether there are Markers in this FPDU is still to come.
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
         "the capture cut what tells whether there are Markers in an FPDU");
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
    broken(rules, place, "neither a DDP header nor a CRC fits what stands here",
           "an FPDU: ULPDU_Length, ULPDU, pad, CRC", Certainty::likely);
  }
  at.known.markers.reset();  // the search takes what fits
  lose(at, place, "what stands here is no FPDU");
  return 0;
}

/// Markers in a direction that had none. Whether they were not to come (RFC 5044 section 7.1.1) or
/// were left out before is known only from the other end's startup frame.
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
  crc_field_missing(place, "the next FPDU stands where the CRC field should be");
  at.no_crc_field = true;
  return bare;
}

/// What one FPDU left out the next ones do as well, unless the field stands here.
Shape MpaFraming::still_without_trailer(Half& at, const Piece& piece, const Shape& shape) {
  const Bytes next = piece.octets.subspan(std::min(shape.size(), piece.octets.size()));
  if (next.size() > wire::fpdu_crc_size && !plausible_fpdu(next, false, 0) &&
      plausible_fpdu(next.subspan(wire::fpdu_crc_size), false, 0)) {
    at.no_crc_field = false;
    return Shape::of(shape.ulpdu, shape.markers, shape.position);
  }
  crc_field_missing({at.direction, piece.offset, shape.size(), piece.first.frame, piece.last.frame,
                     piece.last.time},
                    "no CRC field, as before");
  return shape;
}

void MpaFraming::crc_field_missing(const Place& place, std::string actual) {
  broken(framing::crc_field_missing, place, std::move(actual),
         "a CRC field of four octets, also where CRCs are not in use", Certainty::likely);
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
  seen.certainty = at.certainty;
  split(octets, shape, piece.offset, seen);
  if (auto segment = wire::parse_segment(seen.ulpdu)) seen.segment = *segment;
  at.rules.fpdu({.seen = seen,
                 .shape = shape,
                 .whole = octets.size() == size,
                 .first = piece.first,
                 .last = piece.last,
                 .first_of_direction = !at.any_fpdu && at.certainty == Certainty::certain,
                 .follows_hole = at.follows_hole,
                 .judged = judged(at.direction),
                 .origin_sequence = at.origin_sequence},
                *this);
  listener_->fpdu(seen);
  after_fpdu(at, shape);
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
  if (!at.known.markers) {
    at.without_marker += shape.size();
    if (at.without_marker >= shows_no_markers) at.known.markers = false;
  }
}

void MpaFraming::lose(Half& at, const Place& place, std::string why) {
  note(NoteKind::framing_lost, place, std::move(why));
  if (at.assembly.awaited > 0) at.known.markers.reset();  // the search takes what fits
  at.assembly = {};
  at.store = {};
  at.scanned = 0;
  at.searched = 0;
  at.aligned_cuts = 0;
  at.doubtful = 0;
  at.without_marker = 0;
  at.certainty = Certainty::likely;
  at.follows_hole = true;
  at.phase = Phase::searching;
  at.rules.hole();
  listener_->hole(at.direction, place);
}

void MpaFraming::finish_assembly(Half& at, Rest why) {
  const Assembly rest = std::move(at.assembly);
  at.assembly = {};
  const Piece piece{rest.octets, rest.begin, rest.length, rest.first, rest.last};
  const Place place{at.direction,     rest.begin,      rest.length,
                    rest.first.frame, rest.last.frame, rest.last.time};
  const auto shape = presumed(at, rest.octets, rest.begin);
  if (shape && !rest.cut() && at.known.crc == true && at.diagnoses++ < most_diagnoses) {
    const auto sequence = static_cast<std::uint32_t>(at.origin_sequence + at.origin);
    if (const auto diagnosis = diagnose(rest.octets, *shape, sequence)) {
      FpduSeen seen;
      seen.ulpdu_length = ulpdu_length(rest.octets, shape->leading_marker()).value_or(0);
      const std::uint64_t used = explained(at, piece, *diagnosis, seen);
      if (used < rest.length)
        octets(at.direction, behind({rest.begin, rest.length, rest.octets, rest.last}, used));
      if (at.phase == Phase::operation && at.assembly.active) finish_assembly(at, why);
      return;
    }
  }
  const bool is_all = why == Rest::all_seen || why == Rest::none_comes;
  const bool crc_unused = at.known.crc == false || is_all;
  if (why != Rest::unknown && shape && !rest.cut() && crc_unused && !shape->markers &&
      rest.length + wire::fpdu_crc_size == shape->size()) {
    crc_field_missing(place, "the direction ends before the CRC field");
    return;
  }
  if (is_all) {
    at.phase = Phase::given_up;  // whatever comes yet, no FPDU begins there
    broken(framing::fpdu_unfinished, place,
           fmt::format("{} octets of an FPDU, and no more come", rest.length), "a whole FPDU",
           at.certainty);
    return;
  }
  note(NoteKind::not_judged, place,
       fmt::format("{} octets of an FPDU of which the rest did not come{}", rest.length,
                   rest.awaited > 0 ? ", so whether there are Markers in it is not known" : ""));
}

void MpaFraming::broken(const Statement& statement, const Place& place, std::string actual,
                        std::string admissible, Certainty certainty) {
  judged(place.direction).add(statement);
  listener_->finding({.rule = statement.ids.front(),
                      .place = place,
                      .actual = std::move(actual),
                      .admissible = std::move(admissible),
                      .certainty = certainty,
                      .also = statement.ids.subspan(1)});
}

void MpaFraming::not_judged(const Place& place, std::string why) {
  note(NoteKind::not_judged, place, std::move(why));
}

void MpaFraming::note(NoteKind kind, const Place& place, std::string text) {
  listener_->note({kind, place, std::move(text)});
}

}  // namespace dissectors::analyzer
