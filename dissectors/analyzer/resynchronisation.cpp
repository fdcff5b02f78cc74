// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The search of MpaFraming: finds where FPDUs begin in a direction that was joined in mid-connection,
// or after a hole (RFC 5044 section 6: by Markers, else by lengths and CRCs that fit).
#include <fmt/format.h>

#include <algorithm>

#include "dissectors/analyzer/mpa_framing.hpp"

namespace dissectors::analyzer {

namespace wire = rnic::wire;

namespace {

/// Octets searched at a time: of two such stretches that overlap by half, one has the whole FPDU.
constexpr std::size_t most_searched_at_once = std::size_t{160} << 10;
/// A connection in which nothing fits for so many octets is not iWARP.
constexpr std::uint64_t given_up_behind = std::uint64_t{256} << 10;
/// The first search at every offset waits for so many octets, each further one for twice as many.
constexpr std::size_t first_search = 2048;
/// The number of segment beginnings that are tried with each new segment.
constexpr std::size_t beginnings_tried = 64;
/// How often framing may be lost and found within the octets of one segment: the calls are nested.
constexpr int most_nested = 16;
/// So many segments in a row that look like one FPDU each are enough if the capture cut them all.
constexpr int enough_aligned_cuts = 3;

}  // namespace

void MpaFraming::append(Half& at, const Chunk& chunk) {
  Store& store = at.store;
  if (store.octets.empty() || store.end() != chunk.offset) {
    store.octets.clear();
    store.pieces.clear();
    store.begin = chunk.offset;
    at.scanned = 0;
  }
  store.octets.insert(store.octets.end(), chunk.octets.begin(), chunk.octets.end());
  store.pieces.push_back({chunk.offset, chunk.length, {}, chunk.segment});
}

void MpaFraming::search(Half& at, const Chunk& chunk) {
  if (!at.startup) {
    look_for_startup(at, chunk);
    if (at.phase != Phase::searching) return;
  }
  const SegmentFacts& by = chunk.segment;
  const Place place{at.direction, chunk.offset, chunk.length, by.frame, by.frame, by.time};
  if (!pick_up_ && !forced_ && !is_iwarp_) {
    give_up(at, place);
    return;
  }
  const bool cut = chunk.octets.size() < chunk.length;
  if (cut && search_aligned_cut(at, chunk)) return;
  append(at, chunk);
  const std::size_t size = at.store.octets.size();
  const bool throughout =
      cut || size >= 2 * at.scanned + first_search || size > most_searched_at_once;
  if (find(at, throughout)) return;
  if (throughout) at.scanned = size;
  if (cut) {
    at.searched += size;
    at.store = {};
    at.scanned = 0;
  } else {
    trim(at);
  }
  if (!forced_ && !is_iwarp_ && at.searched + at.store.octets.size() > given_up_behind)
    give_up(at, place);
}

void MpaFraming::trim(Half& at) {
  Store& store = at.store;
  if (store.octets.size() <= most_searched_at_once) return;
  const std::size_t dropped = store.octets.size() / 2;
  at.searched += dropped;
  store.octets.erase(store.octets.begin(),
                     store.octets.begin() + static_cast<std::ptrdiff_t>(dropped));
  store.begin += dropped;
  std::erase_if(store.pieces,
                [&](const Chunk& piece) { return piece.offset + piece.length <= store.begin; });
  at.scanned = store.octets.size() / 2;
}

bool MpaFraming::find(Half& at, bool throughout) {
  if (at.store.octets.empty() || nested_ >= most_nested) return false;
  const std::size_t last = at.store.octets.size() - 1;
  std::optional<std::size_t> index;
  if (fits(at, 0)) index = 0;
  if (!index && at.known.markers == true && at.known.origin) index = by_markers(at);
  if (!index) index = by_segments(at);
  // An FPDU may fit at an earlier offset: none is skipped.
  if (!index || *index > 0)
    if (const auto earlier = first_fit(at, index ? *index : throughout ? last : 0)) index = earlier;
  if (!index) return false;
  found_at(at, *index,
           *fit(Bytes(at.store.octets).subspan(*index), at.store.begin + *index, at.known));
  return true;
}

bool MpaFraming::fits(const Half& at, std::size_t index) {
  return fit(Bytes(at.store.octets).subspan(index), at.store.begin + index, at.known).has_value();
}

std::optional<std::size_t> MpaFraming::first_fit(const Half& at, std::size_t until) {
  const Bytes octets = at.store.octets;
  for (std::size_t index = 1; index < until; ++index)
    if (may_begin(octets.subspan(index)) && fits(at, index)) return index;
  return std::nullopt;
}

std::optional<std::size_t> MpaFraming::by_segments(const Half& at) {
  const auto& pieces = at.store.pieces;
  const std::size_t tried = std::min(pieces.size(), beginnings_tried);
  for (std::size_t piece = pieces.size() - tried; piece < pieces.size(); ++piece) {
    const std::uint64_t begin = pieces[piece].segment.begin;
    if (begin <= at.store.begin || begin >= at.store.end()) continue;
    const auto index = static_cast<std::size_t>(begin - at.store.begin);
    if (fits(at, index)) return index;
  }
  return std::nullopt;
}

std::optional<std::size_t> MpaFraming::by_markers(const Half& at) {
  const Bytes octets = at.store.octets;
  const std::uint64_t position = at.store.begin - *at.known.origin;
  for (std::size_t marker = wire::octets_to_marker(position);
       marker + wire::marker_size <= octets.size(); marker += wire::marker_interval) {
    const std::size_t back =
        wire::Reader(octets.subspan(marker)).read<wire::Marker>().fpdu_pointer.value();
    if (back > marker) continue;
    std::size_t start = marker - back;
    // A Marker directly before ULPDU_Length belongs to the FPDU.
    if (back != 0 && start >= wire::marker_size &&
        wire::marker_at(position + start - wire::marker_size))
      start -= wire::marker_size;
    if (fits(at, start)) return start;
  }
  return std::nullopt;
}

bool MpaFraming::search_aligned_cut(Half& at, const Chunk& chunk) {
  const auto length = ulpdu_length(chunk.octets, false);
  const bool one_fpdu = at.known.markers != true && length && chunk.offset == chunk.segment.begin &&
                        Shape::of(*length, false, 0).size() == chunk.length &&
                        plausible_fpdu(chunk.octets, false, 0);
  at.aligned_cuts = one_fpdu ? at.aligned_cuts + 1 : 0;
  if (at.aligned_cuts < enough_aligned_cuts) return false;
  at.store = {};
  append(at, chunk);
  const Shape shape = Shape::of(*length, false, 0);
  at.known.markers = false;
  found_at(at, 0, {.shape = shape, .crc_right = false, .markers_seen = false});
  return true;
}

void MpaFraming::found_at(Half& at, std::size_t index, const Fit& fit) {
  const std::uint64_t offset = at.store.begin + index;
  const SegmentFacts by = at.store.pieces.back().segment;
  const Place place{at.direction, offset, fit.shape.size(), by.frame, by.frame, by.time};
  if (!at.startup && !at.any_fpdu)
    note(NoteKind::startup_not_seen, place, "joined in mid-connection");
  if (!at.any_fpdu || index > 0) {
    const std::uint64_t begin = at.any_fpdu ? at.store.begin : std::min(offset, at.origin);
    listener_->hole(at.direction,
                    {at.direction, begin, offset - begin, by.frame, by.frame, by.time});
  }
  note(NoteKind::framing_found, place,
       fmt::format("FPDUs from octet {} on, by {}", offset,
                   fit.markers_seen ? (fit.crc_right ? "a Marker and a CRC" : "a Marker")
                   : fit.crc_right  ? "a header and a CRC that fit"
                                    : "a row of headers that fit"));
  // An FPDU at the place of the first one, with the CRC that startup asks for, is certain.
  const bool follows_startup = at.startup && !at.follows_hole && offset == at.origin &&
                               at.known.crc == true && fit.crc_right;
  if (fit.shape.markers) {
    if (!at.known.markers && at.startup && fit.crc_right && fit.markers_seen)
      markers_begin(at, place, "FPDUs that fit their CRCs only with Markers in them");
    at.known.markers = true;
    at.origin = offset - fit.shape.position;
    at.known.origin = at.origin;
  } else if (!at.startup) {
    at.origin = offset;
  }
  at.crcs = 0;
  at.crcs_not_counted = false;
  if (fit.crc_right && !at.known.crc) at.known.crc = true;
  at.certainty = follows_startup ? Certainty::certain : Certainty::likely;
  at.phase = Phase::operation;
  at.follows_hole = !follows_startup;
  is_iwarp_ = true;
  Half& other = peer(at);
  if (!at.startup) at.startup_lost = true;
  if (other.phase == Phase::given_up && !other.from_syn) other.phase = Phase::searching;
  if (other.phase == Phase::awaiting_peer && !at.startup) settle_without_peer(other);
  feed_store(at, index);
}

void MpaFraming::feed_store(Half& at, std::size_t index) {
  const Store store = std::move(at.store);
  at.store = {};
  at.scanned = 0;
  at.searched = 0;
  const std::uint64_t from = store.begin + index;
  ++nested_;
  for (const Chunk& piece : store.pieces) {
    const std::uint64_t begin = std::max(piece.offset, from);
    const std::uint64_t end = piece.offset + piece.length;
    if (begin >= end) continue;
    // If the capture cut a segment, the store has less of it than was on the wire.
    const std::uint64_t captured = std::clamp(store.end(), begin, end);
    octets(at.direction, {begin, end - begin,
                          Bytes(store.octets)
                              .subspan(static_cast<std::size_t>(begin - store.begin),
                                       static_cast<std::size_t>(captured - begin)),
                          piece.segment});
  }
  --nested_;
}

void MpaFraming::give_up(Half& at, const Place& place) {
  at.phase = Phase::given_up;
  at.store = {};
  if (given_up_) return;
  given_up_ = true;
  note(NoteKind::not_iwarp, place,
       pick_up_ ? fmt::format("nothing of MPA in {} octets", at.searched)
                : "its startup was not seen, and no connection is picked up in mid-connection");
}

}  // namespace dissectors::analyzer
