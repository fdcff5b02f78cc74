// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The startup phase of MpaFraming: finds the Request and the Reply Frame and determines the layout
// of the FPDUs after them (RFC 5044 section 7.1).
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "dissectors/analyzer/mpa_framing.hpp"

namespace dissectors::analyzer {

namespace wire = rnic::wire;

namespace {

/// Octets kept until the peer's startup frame is seen; if there are more, the frame is missing.
constexpr std::size_t most_set_aside = std::size_t{64} << 10;
/// At the front of a connection, up to so many wrong octets still make a wrong key.
constexpr std::ptrdiff_t most_wrong_in_key = 4;

std::ptrdiff_t wrong_octets(wire::MpaFrameKind kind, Bytes octets) {
  const auto& key = wire::mpa_key(kind);
  const std::size_t comparable = std::min(octets.size(), key.size());
  std::ptrdiff_t wrong = 0;
  for (std::size_t at = 0; at < comparable; ++at) wrong += octets[at] != key[at] ? 1 : 0;
  return wrong;
}

wire::MpaFrameKind nearest_kind(Bytes octets) {
  return wrong_octets(wire::MpaFrameKind::request, octets) <=
                 wrong_octets(wire::MpaFrameKind::reply, octets)
             ? wire::MpaFrameKind::request
             : wire::MpaFrameKind::reply;
}

/// Whether these octets may begin a startup frame.
bool resembles_startup(Bytes octets, bool at_front) {
  const std::ptrdiff_t wrong = wrong_octets(nearest_kind(octets), octets);
  if (!at_front) return wrong == 0;
  return octets.size() < wire::mpa_key_size ? wrong * 2 <= std::ssize(octets)
                                            : wrong <= most_wrong_in_key;
}

/// The size of the frame that begins with these octets; nothing as long as its header is
/// incomplete. A frame with more private data than is allowed ends with these octets: no receiver
/// waits for more.
std::optional<std::size_t> startup_size(Bytes octets) {
  if (octets.size() < wire::mpa_frame_header_size) return std::nullopt;
  const std::size_t private_data =
      wire::Reader(octets).read<wire::MpaFrameHeader>().pd_length.value();
  const std::size_t size = wire::mpa_frame_header_size + private_data;
  return private_data > wire::mpa_max_private_data ? std::min(size, octets.size()) : size;
}

bool starts_with_key(const Chunk& chunk) {
  return chunk.offset == chunk.segment.begin && chunk.octets.size() >= wire::mpa_key_size &&
         resembles_startup(chunk.octets, false);
}

}  // namespace

void MpaFraming::startup_octets(Half& at, const Chunk& chunk) {
  Assembly& assembly = at.assembly;
  if (!assembly.active) {
    begin_assembly(at, chunk);
  } else {
    if (!assembly.cut())
      assembly.octets.insert(assembly.octets.end(), chunk.octets.begin(), chunk.octets.end());
    assembly.length += chunk.length;
    assembly.last = chunk.segment;
  }
  if (!resembles_startup(assembly.octets, at.from_syn && assembly.begin == 0)) {
    if (at.owed)
      wrong_key(at);
    else
      no_startup(at);
    return;
  }
  const auto size = startup_size(assembly.octets);
  if (size && assembly.octets.size() >= *size)
    take_startup_frame(at, *size);
  else if (assembly.cut())
    no_startup(at);
}

void MpaFraming::no_startup(Half& at) {
  const Assembly seen = std::move(at.assembly);
  at.assembly = {};
  at.refused_startup = seen.begin;
  // The stream is not MPA from its first octet on: only a startup frame can change that.
  at.startup_lost = !at.from_syn || forced_ || seen.cut();
  at.phase = at.startup_lost ? Phase::searching : Phase::given_up;
  if (at.startup_lost && peer(at).phase == Phase::awaiting_peer) settle_without_peer(peer(at));
  octets(at.direction, {seen.begin, seen.length, seen.octets, seen.last});
}

void MpaFraming::look_for_startup(Half& at, const Chunk& chunk) {
  if (at.startup || at.refused_startup == chunk.offset || !starts_with_key(chunk)) return;
  at.phase = Phase::startup;
  at.startup_lost = false;
  startup_octets(at, chunk);
}

void MpaFraming::take_startup_frame(Half& at, std::size_t size) {
  const Assembly seen = std::move(at.assembly);
  at.assembly = {};
  const Bytes octets = Bytes(seen.octets).first(size);
  wire::Reader in(octets);
  const auto header = in.read<wire::MpaFrameHeader>();
  const MpaFrameSeen frame{
      .place = {at.direction, seen.begin, size, seen.first.frame, seen.last.frame, seen.last.time},
      .frame = {.kind = at.owed.value_or(nearest_kind(octets)),
                .flags = header.flags,
                .revision = header.revision,
                .private_data = in.rest()},
      .octets = octets};
  at.startup = Startup{frame.frame.kind, header.flags, wire::Crc32c().update(octets).trailer()};
  at.origin = seen.begin + size;
  // If there is more private data than is allowed, the rest of it is no FPDU.
  if (header.pd_length.value() > wire::mpa_max_private_data)
    at.unread = wire::mpa_frame_header_size + header.pd_length.value() - size;
  at.phase = Phase::awaiting_peer;
  is_iwarp_ = true;
  Half& other = peer(at);
  // This end has answered the peer's octets, so it took them for a whole frame.
  if (other.phase == Phase::startup && other.assembly.octets.size() >= wire::mpa_frame_header_size)
    take_startup_frame(other, other.assembly.octets.size());
  listener_->mpa_frame(frame);
  check_key(frame);
  if (!at.owed) check_turn(frame, seen.first);
  if (!at.capture_over) check_private_data(frame, header.pd_length.value());
  if (other.startup)
    settle(at);
  else if (other.startup_lost)
    settle_without_peer(at);
  if (size < seen.length)
    this->octets(at.direction,
                 {at.origin, seen.length - size, Bytes(seen.octets).subspan(size), seen.last});
}

void MpaFraming::sent_startup(const MpaFrameSeen& frame) {
  Half& at = half(frame.place.direction);
  is_iwarp_ = true;
  if (at.startup) return;
  at.startup = Startup{frame.frame.kind, frame.frame.flags, {}};
  if (peer(at).startup) settle(at);
}

/// There is nothing like the frame that is due: what follows is no FPDU either.
void MpaFraming::wrong_key(Half& at) {
  const Assembly seen = std::move(at.assembly);
  at.assembly = {};
  at.phase = Phase::given_up;
  const bool request = *at.owed == wire::MpaFrameKind::request;
  broken(request ? Statement(framing::request_key) : Statement(framing::reply_key),
         {at.direction, seen.begin, seen.length, seen.first.frame, seen.last.frame, seen.last.time},
         "no MPA frame", request ? "\"MPA ID Req Frame\"" : "\"MPA ID Rep Frame\"",
         Certainty::certain);
}

void MpaFraming::check_key(const MpaFrameSeen& frame) {
  const bool request = frame.frame.kind == wire::MpaFrameKind::request;
  judged(frame.place.direction).add(request ? framing::request_key : framing::reply_key);
  if (wrong_octets(frame.frame.kind, frame.octets) == 0) return;
  broken(request ? Statement(framing::request_key) : Statement(framing::reply_key), frame.place,
         "a key that differs in " +
             fmt::format("{} octets", wrong_octets(frame.frame.kind, frame.octets)),
         request ? "\"MPA ID Req Frame\"" : "\"MPA ID Rep Frame\"", Certainty::certain);
}

/// RFC 5044 section 7.1.2. What the frame's segment acknowledges shows whether anything had come.
/// Never certain: the frame may be an Initiator's with the other key.
void MpaFraming::check_turn(const MpaFrameSeen& frame, const SegmentFacts& by) {
  if (frame.frame.kind != wire::MpaFrameKind::reply || !by.received) return;
  judged(frame.place.direction).add(framing::reply_unasked);
  if (*by.received == 0)
    broken(framing::reply_unasked, frame.place, "a Reply whose sender had received nothing",
           "a Request, or no Reply before one has come", Certainty::likely);
}

void MpaFraming::check_private_data(const MpaFrameSeen& frame, std::uint16_t pd_length) {
  const std::size_t came = frame.frame.private_data.size();
  const std::string admissible = fmt::format("{}: the octets that came", came);
  judged(frame.place.direction).add(framing::pd_length);
  if (came > 0) judged(frame.place.direction).add(framing::pd_length_swapped);
  if (pd_length == came) return;
  const bool swapped = std::byteswap(pd_length) == came;
  // The rules of startup report a length above the limit.
  if (pd_length > wire::mpa_max_private_data && !swapped) return;
  if (swapped)
    broken(framing::pd_length_swapped, frame.place,
           fmt::format("PD_Length {:#06x}: little-endian", pd_length), admissible,
           Certainty::likely);
  else
    broken(framing::pd_length, frame.place, fmt::format("PD_Length {}", pd_length), admissible,
           Certainty::likely);
}

void MpaFraming::settle(Half& at) {
  Half& other = peer(at);
  const Startup mine = *at.startup;
  const Startup theirs = *other.startup;
  if (mine.kind == theirs.kind) return;
  // M in a frame asks for Markers in what its sender receives (RFC 5044 section 7.1.1).
  at.known.markers = theirs.flags.markers();
  other.known.markers = mine.flags.markers();
  at.known.crc = other.known.crc = mine.flags.crc() || theirs.flags.crc();
  const wire::MpaFlags reply = mine.kind == wire::MpaFrameKind::reply ? mine.flags : theirs.flags;
  for (Half* half : {&other, &at}) {
    if (half->phase != Phase::awaiting_peer) continue;
    half->unread = 0;  // from here on the sender had the peer's frame
    half->known.origin = half->origin;
    judged(half->direction).add(framing::early_octets);
    if (!half->store.octets.empty() && !half->follows_hole)
      if (const auto certainty = sent_early(*half)) judge_early_octets(*half, *certainty);
    // After a rejection the connection belongs to the ULP: FPDUs are taken only where they fit.
    const bool sure = !reply.reject() && !half->follows_hole;
    half->phase = sure ? Phase::operation : Phase::searching;
    if (sure)
      feed_store(*half, 0);
    else
      find(*half, true);
  }
}

/// How sure it is that the octets after this end's frame were sent before the peer's had come, which
/// was captured later; nothing if it had come.
std::optional<Certainty> MpaFraming::sent_early(Half& at) {
  if (at.owed) return Certainty::certain;
  const auto& received = at.store.pieces.front().segment.received;
  if (!received) return Certainty::likely;
  return *received < peer(at).origin ? std::optional(Certainty::certain) : std::nullopt;
}

void MpaFraming::judge_early_octets(Half& at, Certainty certainty) {
  const Bytes early = at.store.octets;
  const SegmentFacts by = at.store.pieces.front().segment;
  const Place place{at.direction, at.store.begin, early.size(), by.frame, by.frame, by.time};
  const auto& checksum = at.startup->checksum;
  if (early.size() >= checksum.size() && std::ranges::equal(early.first(checksum.size()), checksum))
    return;  // reported where Full Operation begins
  // Other rules judge whether an FPDU may be here. The rest of it may still come.
  const auto begun = [&](bool markers) {
    const auto length = ulpdu_length(early, markers);
    return length && Shape::of(*length, markers, 0).size() > early.size() &&
           plausible_fpdu(early, markers, 0);
  };
  if (begun(false) || begun(at.known.markers == true) ||
      fit(early, at.store.begin, {.markers = {}, .crc = true, .origin = {}}) ||
      fit(early, at.store.begin, at.known))
    return;
  broken(framing::early_octets, place,
         fmt::format("{} octets after the private data, and they are no FPDU", early.size()),
         "PD_Length as long as the private data, and nothing after it before the peer's frame",
         certainty);
  if (certainty == Certainty::likely) {  // they may be FPDUs that do not fit, too
    at.follows_hole = true;
    listener_->hole(at.direction, place);
  }
  at.origin = at.store.end();
  at.known.origin = at.origin;
  at.store = {};
}

bool MpaFraming::skip_startup_crc(Half& at, const Chunk& chunk) {
  if (!at.startup || chunk.offset != at.origin || chunk.octets.size() < wire::fpdu_crc_size)
    return false;
  judged(at.direction).add(framing::startup_crc);
  if (!std::ranges::equal(chunk.octets.first(wire::fpdu_crc_size), at.startup->checksum))
    return false;
  const SegmentFacts& by = chunk.segment;
  broken(framing::startup_crc,
         {at.direction, chunk.offset, wire::fpdu_crc_size, by.frame, by.frame, by.time},
         "the CRC32c of the startup frame after it", "startup frames without CRC or Markers",
         Certainty::certain);
  at.origin += wire::fpdu_crc_size;
  at.known.origin = at.origin;
  return true;
}

void MpaFraming::set_aside(Half& at, const Chunk& chunk) {
  append(at, chunk);
  if (chunk.octets.size() < chunk.length) {
    const SegmentFacts& by = chunk.segment;
    at.store = {};
    at.follows_hole = true;
    listener_->hole(at.direction,
                    {at.direction, chunk.offset, chunk.length, by.frame, by.frame, by.time});
  }
  if (at.store.octets.size() > most_set_aside) settle_without_peer(at);
}

void MpaFraming::settle_without_peer(Half& at) {
  Half& other = peer(at);
  // This end's frame shows what the other end has to send, and that CRCs are in use if it asks for
  // them.
  other.known.markers = at.startup->flags.markers();
  if (at.startup->flags.crc()) at.known.crc = other.known.crc = true;
  at.certainty = Certainty::likely;
  at.phase = Phase::searching;
  listener_->hole(at.direction, {.direction = at.direction, .offset = at.origin});
  note(NoteKind::startup_not_seen,
       {other.direction, 0, 0, at.store.pieces.empty() ? 0 : at.store.pieces.front().segment.frame,
        0, 0},
       "the startup frame of this direction was not seen");
  if (!at.store.octets.empty()) find(at, true);
}

}  // namespace dissectors::analyzer
