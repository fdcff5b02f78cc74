// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/capture/stream_index.hpp"

#include <algorithm>

namespace dissectors::capture {

StreamIndex::StreamIndex(LinkType link, std::span<const Frame> frames) {
  std::uint32_t number = 0;
  for (const Frame& frame : frames) {
    ++number;
    if (const auto segment = parse_segment(link, frame.octets))
      add(directions_[segment->flow], *segment, number);
  }
}

void StreamIndex::add(Direction& direction, const Segment& segment, std::uint32_t number) {
  if (segment.rst && !direction.reset) direction.reset = number;
  // The first octet follows the SYN (RFC 9293 3.4). A SYN with another number opens a new
  // connection on the same ports.
  const std::uint32_t first = segment.syn ? segment.sequence + 1 : segment.sequence;
  if (segment.syn && direction.started && direction.origin != first) {
    const auto reset = direction.reset;
    direction = Direction();
    direction.reset = reset;
  }
  if (!direction.started && (segment.syn || segment.payload_length > 0)) {
    direction.started = true;
    direction.origin = first;
  }
  if (segment.syn && !direction.syn) direction.syn = number;
  if (segment.fin && !direction.fin) direction.fin = number;
  if (segment.payload_length == 0) return;
  // Sequence numbers wrap: the segment is within 2 GiB of the last one seen.
  const auto expected = static_cast<std::uint32_t>(direction.origin + direction.highest);
  const auto ahead = static_cast<std::int32_t>(first - expected);
  const auto begin = static_cast<std::int64_t>(direction.highest) + ahead;
  if (begin < 0) return;  // before the first octet: a keep-alive probe
  const std::uint64_t end = static_cast<std::uint64_t>(begin) + segment.payload_length;
  direction.pieces.push_back({static_cast<std::uint64_t>(begin), end, number});
  direction.highest = std::max(direction.highest, end);
}

const StreamIndex::Direction* StreamIndex::find(const Flow& flow) const {
  const auto found = directions_.find(flow);
  return found == directions_.end() ? nullptr : &found->second;
}

std::optional<std::uint32_t> StreamIndex::octet(const Flow& flow, std::uint64_t offset) const {
  const Direction* direction = find(flow);
  if (direction == nullptr) return {};
  const auto found = std::ranges::find_if(direction->pieces, [&](const Piece& piece) {
    return piece.begin <= offset && offset < piece.end;
  });
  if (found == direction->pieces.end()) return {};
  return found->frame;
}

std::optional<std::uint32_t> StreamIndex::syn(const Flow& flow) const {
  const Direction* direction = find(flow);
  return direction == nullptr ? std::nullopt : direction->syn;
}

std::optional<std::uint32_t> StreamIndex::fin(const Flow& flow) const {
  const Direction* direction = find(flow);
  return direction == nullptr ? std::nullopt : direction->fin;
}

std::optional<std::uint32_t> StreamIndex::reset(const Flow& flow) const {
  const Direction* direction = find(flow);
  return direction == nullptr ? std::nullopt : direction->reset;
}

}  // namespace dissectors::capture
