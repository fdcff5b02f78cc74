// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/connection_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace dissectors::analyzer {

namespace {

/// Later than any frame: nothing is waited for.
constexpr std::uint64_t all_times = std::numeric_limits<std::uint64_t>::max();

}  // namespace

ConnectionState::ConnectionState(Shared& shared, const Options& options,
                                 const Connection& connection)
    : shared_(shared),
      judge_(shared, connection, options.pick_up),
      sides_{Side(*this, Direction::from_first, options.reorder_octets),
             Side(*this, Direction::from_second, options.reorder_octets)} {
  ++shared_.counts.connections;
  shared_.sink.opened(judge_.connection());
}

bool ConnectionState::opens_another(Direction direction, const capture::Segment& segment) const {
  const Side& from = sides_[static_cast<std::size_t>(direction)];
  if (!segment.syn) return false;
  if (closed_) return !segment.ack;
  return from.stream.started() && from.stream.origin() != segment.sequence + 1;
}

void ConnectionState::segment(Direction direction, const capture::Segment& segment,
                              std::uint32_t frame, std::uint64_t time) {
  last_ = {0, 0, frame, time};
  if (closed_) return;
  Side& from = side(direction);
  Side& to = side(opposite(direction));
  from.seen = true;
  if (damaged(direction, segment))
    return say(NoteKind::segment_ignored, direction,
               "its TCP checksum is wrong, so it was damaged on its way and its receiver drops it");
  from.octets += segment.payload_length;
  if (segment.syn && segment.mss != 0) judge_.announced_mss(direction, from.mss = segment.mss);
  judge_.advertised(direction, segment);
  from.stream.reach(judge_.reach(direction));
  if (is_next(from, to, segment))
    from.stream.take_next(segment, frame, time, from.receiver,
                          to.stream.from_syn_to(segment.acknowledgement));
  else
    take_or_delay(direction, segment, frame, time);
  if (judge_.is_iwarp() && !counted_) {
    counted_ = true;
    ++shared_.counts.iwarp_connections;
  }
}

/// Nothing waits for anything, and the segment brings no more than the octets that come next, if any:
/// most do.
bool ConnectionState::is_next(const Side& from, const Side& to, const capture::Segment& segment) {
  return segment.ack && !segment.syn && !segment.fin && !segment.rst && from.delayed.empty() &&
         to.delayed.empty() && to.stream.has_all_before(segment.acknowledgement) &&
         from.stream.is_at(segment.sequence);
}

void ConnectionState::take_or_delay(Direction direction, const capture::Segment& segment,
                                    std::uint32_t frame, std::uint64_t time) {
  Side& from = side(direction);
  Side& to = side(opposite(direction));
  release(segment.rst ? all_times : time);
  if (is_early(to, segment, time) || !from.delayed.empty()) {
    if (segment.ack) to.stream.acknowledged(segment.acknowledgement, frame, time, to.receiver);
    delay(from, segment, frame, time);
  } else {
    take(direction, segment, frame, time);
  }
  if (!from.delayed.empty() || !to.delayed.empty()) release(time);
}

void ConnectionState::take(Direction direction, const capture::Segment& segment,
                           std::uint32_t frame, std::uint64_t time) {
  if (closed_) return;
  Side& from = side(direction);
  Side& to = side(opposite(direction));
  // The acknowledgement first: the sender had those octets when it sent this segment's.
  if (segment.ack && !segment.rst)
    to.stream.acknowledged(segment.acknowledgement, frame, time, to.receiver);
  from.stream.add(segment, frame, time, from.receiver, received(direction, segment));
}

std::optional<std::uint64_t> ConnectionState::received(Direction sender,
                                                       const capture::Segment& segment) {
  if (!segment.ack) return std::nullopt;
  return side(opposite(sender)).stream.from_syn_to(segment.acknowledgement);
}

bool ConnectionState::is_early(const Side& to, const capture::Segment& segment,
                               std::uint64_t time) {
  return segment.ack && !segment.rst && time != 0 && to.stream.lacks(segment.acknowledgement);
}

void ConnectionState::delay(Side& from, const capture::Segment& segment, std::uint32_t frame,
                            std::uint64_t time) {
  // More of them show that the octets are lost, however little time has passed.
  constexpr std::size_t most_segments = 256, most_octets = std::size_t{256} << 10;
  if (from.delayed.size() == most_segments || from.delayed_octets > most_octets) release(all_times);
  from.delayed_octets += segment.payload.size();
  Delayed& it = from.delayed.emplace_back(
      segment, std::vector(segment.payload.begin(), segment.payload.end()), frame, time);
  it.segment.payload = it.payload;
  it.segment.payload_stays = false;
}

/// Takes the delayed segments that need not wait after this time.
void ConnectionState::release(std::uint64_t time) {
  for (Side& each : sides_) each.stream.settle(time, each.receiver);
  if (sides_[0].delayed.empty() && sides_[1].delayed.empty()) return;
  while (release_first(sides_[0], time) || release_first(sides_[1], time) || supply(sides_[0]) ||
         supply(sides_[1])) {
  }
}

/// A segment of the other end waits for octets: takes them from a segment that waits as well, though
/// not because of them, such as a retransmission, which acknowledges what was sent in answer to its
/// octets. Otherwise both ends would wait for each other.
bool ConnectionState::supply(Side& from) {
  const Side& to = side(opposite(from.receiver.direction));
  const auto waiting = std::ranges::find_if(to.delayed, [](const Delayed& it) {
    return it.segment.ack && (it.segment.payload_length > 0 || it.segment.fin);
  });
  if (closed_ || waiting == to.delayed.end()) return false;
  const capture::Segment& knowing = waiting->segment;
  for (const Delayed& it : from.delayed) {
    capture::Segment part = it.segment;
    const auto known = static_cast<std::int32_t>(knowing.acknowledgement - part.sequence);
    const bool sent_again =
        part.ack && static_cast<std::int32_t>(part.acknowledgement - knowing.sequence) > 0;
    if (part.syn || part.rst || known <= 0 || (!sent_again && is_early(to, part, it.time)))
      continue;
    part.payload_length = std::min(part.payload_length, static_cast<std::size_t>(known));
    part.fin = false;
    if (!from.stream.continued_by(part)) continue;
    // What is added may end the connection, and with it everything that waits.
    const std::vector<std::byte> payload = it.payload;
    part.payload = Bytes(payload).first(std::min(payload.size(), part.payload_length));
    from.stream.add(part, it.frame, it.time, from.receiver,
                    received(from.receiver.direction, part));
    return true;
  }
  return false;
}

bool ConnectionState::release_first(Side& from, std::uint64_t time) {
  if (from.delayed.empty()) return false;
  const Delayed& first = from.delayed.front();
  const Direction direction = from.receiver.direction;
  const bool waits = time < first.time || time - first.time <= capture_disorder;
  if (waits && first.segment.ack &&
      side(opposite(direction)).stream.lacks(first.segment.acknowledgement))
    return false;
  const Delayed it = std::move(from.delayed.front());
  from.delayed.erase(from.delayed.begin());
  from.delayed_octets -= it.payload.size();
  take(direction, it.segment, it.frame, it.time);
  return true;
}

/// A capture on the sending host has checksums that its adapter fills in later, and frames that an
/// adapter joined have that of one part: a wrong checksum counts only if others are right.
bool ConnectionState::damaged(Direction direction, const capture::Segment& segment) {
  Side& from = side(direction);
  const std::uint16_t mss = side(opposite(direction)).mss;
  if (mss != 0 && segment.payload_length > mss) return false;
  const capture::Checksum checksum = capture::check_checksum(segment);
  if (checksum == capture::Checksum::right) ++from.sound;
  if (checksum != capture::Checksum::wrong) return false;
  constexpr std::uint64_t unsound_for_each_sound = 4;
  return from.unsound++ < unsound_for_each_sound * from.sound;
}

void ConnectionState::begin(Direction direction) {
  Side& at = side(direction);
  if (std::exchange(at.begun, true)) return;
  if (!at.stream.from_syn() || !side(opposite(direction)).stream.from_syn())
    judge_.miss_beginning();
  judge_.begins(direction, at.stream.from_syn(), at.stream.origin());
}

void ConnectionState::octets(Direction direction, const Chunk& chunk) {
  begin(direction);
  if (chunk.octets.size() < chunk.length && !std::exchange(side(direction).cut, true))
    say(NoteKind::frame_cut, direction,
        fmt::format("the capture kept {} of {} octets (said once for this direction)",
                    chunk.octets.size(), chunk.length));
  judge_.octets(direction, chunk);
}

void ConnectionState::stream_hole(Direction direction, std::uint64_t offset, std::uint64_t length,
                                  bool for_want_of_room, const SegmentFacts& by) {
  begin(direction);
  judge_.note({for_want_of_room ? NoteKind::memory_bound : NoteKind::octets_missing,
               {direction, offset, length, by.frame, by.frame, by.time},
               fmt::format("{} octets {}", length,
                           for_want_of_room ? "waited for until there was no more room"
                                            : "were sent but are not in the capture")});
  judge_.missing(direction, offset, length, by);
}

void ConnectionState::Receiver::out_of_window(const SegmentFacts& what) {
  owner.judge_.note(
      {NoteKind::segment_ignored,
       {direction, what.begin, what.end - what.begin, what.frame, what.frame, what.time},
       "it lies outside the window of its receiver, which acknowledged nothing there"});
}

void ConnectionState::Receiver::differs(std::uint64_t offset, std::uint64_t length,
                                        const SegmentFacts& by) {
  owner.judge_.note(
      {NoteKind::retransmission_differs,
       {direction, offset, length, by.frame, by.frame, by.time},
       fmt::format("a retransmission carries other octets than before, within {} octets", length)});
}

void ConnectionState::stream_ended(Direction direction, Ending ending, std::uint64_t offset,
                                   const SegmentFacts& by) {
  if (std::exchange(side(direction).ended, true)) return;
  const Place place{direction, offset, 0, by.frame, by.frame, by.time};
  if (ending == Ending::reset)
    for (Side& each : sides_) each.stream.finish(each.receiver);
  judge_.finish(direction, Rest::ended);
  if (ending == Ending::reset) judge_.finish(opposite(direction), Rest::ended);
  judge_.ended(direction, ending, place);
  if (ending == Ending::reset || side(opposite(direction)).ended) close();
}

void ConnectionState::close() {
  if (closed_) return;
  release(all_times);
  for (Side& each : sides_) each.stream.finish(each.receiver);
  if (closed_) return;  // a FIN that waited for missing octets closed it
  closed_ = true;
  for (const Side& each : sides_)
    if (!each.ended) judge_.finish(each.receiver.direction, Rest::unknown);
  for (Side& each : sides_)
    if (!each.seen && side(opposite(each.receiver.direction)).octets > 0)
      say(NoteKind::direction_missing, each.receiver.direction,
          "no segment of this direction was captured");
  if (!judge_.is_iwarp() && !judge_.given_up() && sides_[0].octets + sides_[1].octets > 0)
    say(NoteKind::not_iwarp, Direction::from_first, "no octets of MPA were found");
  judge_.close();
}

void ConnectionState::aged_out(std::string why) {
  if (closed_) return;
  say(NoteKind::aged_out, Direction::from_first, std::move(why));
  close();
}

std::size_t ConnectionState::memory() const {
  return sizeof *this - sizeof judge_ + judge_.memory() + sides_[0].stream.memory() +
         sides_[1].stream.memory() + sides_[0].delayed_octets + sides_[1].delayed_octets;
}

void ConnectionState::say(NoteKind kind, Direction direction, std::string text) {
  judge_.note({kind, {direction, 0, 0, last_.frame, last_.frame, last_.time}, std::move(text)});
}

}  // namespace dissectors::analyzer
