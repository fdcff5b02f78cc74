// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the parts of the framing share, and the assembly of FPDUs from chunks. Startup frames are in
// startup_framing.cpp, single FPDUs in fpdu_framing.cpp, the search for lost FPDUs in
// resynchronisation.cpp.
#include "dissectors/analyzer/mpa_framing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace dissectors::analyzer {

namespace wire = rnic::wire;

namespace {

/// What is left of a chunk after `done` octets.
Chunk remainder(const Chunk& chunk, std::uint64_t done) {
  const std::size_t captured =
      static_cast<std::size_t>(std::min<std::uint64_t>(done, chunk.octets.size()));
  return {chunk.offset + done, chunk.length - done, chunk.octets.subspan(captured), chunk.segment};
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
    if (passed < chunk.length) octets(direction, remainder(chunk, passed));
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
      listener_->hole(direction, place);
      return;
    case Phase::operation: {
      // After a hole within an FPDU whose end is known, the place of the next one is still known.
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
    if (at.assembly.active) {
      done += assemble(at, remainder(chunk, done));
      continue;
    }
    if (!at.any_fpdu && skip_startup_crc(at, remainder(chunk, done))) {
      done += wire::fpdu_crc_size;
      continue;
    }
    if (at.settled()) {
      done = take_right_fpdus(at, chunk, done);
      if (done == chunk.length) return;
    }
    const Bytes rest = chunk.octets.subspan(
        static_cast<std::size_t>(std::min<std::uint64_t>(done, chunk.octets.size())));
    const std::uint64_t offset = chunk.offset + done, length = chunk.length - done;
    const auto shape = presumed(at, rest, offset);
    if (!shape && rest.size() < length) {
      const SegmentFacts& by = chunk.segment;
      lose(at, {at.direction, offset, length, by.frame, by.frame, by.time},
           "the capture cut a frame before the length of an FPDU");
      return;
    }
    if (!shape || shape->size() > length) {
      begin_assembly(at, remainder(chunk, done));
      return;
    }
    done += take_fpdu(at, {rest, offset, length, chunk.segment, chunk.segment}, *shape);
  }
  if (done < chunk.length) octets(at.direction, remainder(chunk, done));
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
  // Octet by octet until the length is there: these are at most six octets.
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
    octets(at.direction, remainder({whole.begin, whole.length, whole.octets, whole.last}, used));
  // The next FPDU uses the same memory.
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
    if (const auto diagnosis = diagnose(rest.octets, *shape, at.marker_mistakes())) {
      FpduSeen seen;
      seen.ulpdu_length = ulpdu_length(rest.octets, shape->leading_marker()).value_or(0);
      const std::uint64_t used = explained(at, piece, *diagnosis, seen);
      if (used < rest.length)
        octets(at.direction, remainder({rest.begin, rest.length, rest.octets, rest.last}, used));
      if (at.phase == Phase::operation && at.assembly.active) finish_assembly(at, why);
      return;
    }
  }
  const bool is_all = why == Rest::all_seen || why == Rest::none_comes;
  const bool crc_unused = at.known.crc == false || is_all;
  if (why != Rest::unknown && shape && !rest.cut() && crc_unused && !shape->markers &&
      rest.length + wire::fpdu_crc_size == shape->size()) {
    crc_field_missing(place, "the direction ends before the CRC field",
                      is_all ? at.certainty : Certainty::likely);
    return;
  }
  if (is_all) {
    at.phase = Phase::given_up;  // no FPDU begins in what may still come
    broken(framing::fpdu_unfinished, place,
           fmt::format("{} octets of an FPDU, and no more follow", rest.length), "a whole FPDU",
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
