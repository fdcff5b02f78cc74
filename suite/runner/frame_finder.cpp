// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/frame_finder.hpp"

#include <algorithm>

#include "base/hex.hpp"
#include "suite/runner/worker_messages.hpp"

namespace suite::runner {

namespace {

using cases::ConnectionRecord;
using cases::Direction;
using cases::Offset;
using dissectors::capture::Endpoint;
using dissectors::capture::Flow;
using Kind = ConnectionRecord::Mark::Kind;

Endpoint endpoint(const base::Address& address) {
  Endpoint result;
  result.ipv6 = address.family == base::Family::ipv6;
  result.port = address.port;
  const auto octets = std::as_bytes(std::span(address.octets));
  std::ranges::copy(octets.first(result.ipv6 ? 16 : 4), result.address.begin());
  return result;
}

}  // namespace

Flow flow_to_iut(const ConnectionRecord& connection) {
  return {endpoint(connection.tester), endpoint(connection.iut)};
}

std::vector<dissectors::capture::Frame> synthesize(std::span<const ConnectionRecord> connections,
                                                   std::uint64_t start) {
  struct Passed {
    Flow flow;
    const ConnectionRecord::Mark* mark;
  };
  std::vector<Passed> all;
  for (const ConnectionRecord& connection : connections) {
    const Flow to_iut = flow_to_iut(connection);
    for (const auto& mark : connection.marks) {
      const bool forward = mark.kind == Kind::opened ? connection.opened_by_tester
                                                     : mark.direction == Direction::to_iut;
      all.push_back({forward ? to_iut : to_iut.reversed(), &mark});
    }
  }
  std::ranges::stable_sort(all, {}, [](const Passed& passed) { return passed.mark->at; });
  dissectors::capture::Synthesizer maker;
  for (const Passed& passed : all) {
    const std::uint64_t time = start + static_cast<std::uint64_t>(passed.mark->at.count());
    switch (passed.mark->kind) {
      case Kind::opened:
        maker.opened(passed.flow, time);
        break;
      case Kind::data:
        maker.data(passed.flow, time, passed.mark->octets);
        break;
      case Kind::fin:
        maker.closed(passed.flow, time);
        break;
      case Kind::reset:
        maker.reset(passed.flow, time);
        break;
    }
  }
  return maker.frames();
}

FrameFinder::FrameFinder(std::span<const ConnectionRecord> connections,
                         dissectors::capture::StreamIndex index)
    : index_(std::move(index)) {
  for (const ConnectionRecord& connection : connections) {
    add(connection, Direction::to_iut);
    add(connection, Direction::from_iut);
  }
}

void FrameFinder::add(const ConnectionRecord& connection, Direction direction) {
  const Flow to_iut = flow_to_iut(connection);
  Stream stream{direction == Direction::to_iut ? to_iut : to_iut.reversed(), direction, {}, {}};
  for (const auto& mark : connection.marks) {
    if (mark.direction != direction) continue;
    stream.octets.append(reinterpret_cast<const char*>(mark.octets.data()), mark.octets.size());
    stream.events.push_back({mark.at, mark.kind, stream.octets.size()});
  }
  if (!stream.events.empty()) streams_.push_back(std::move(stream));
}

std::optional<std::uint32_t> FrameFinder::find(Direction direction, Offset at,
                                               const std::string& hex) const {
  const auto wanted = base::leading_hex(hex);
  if (!wanted.empty()) {
    const auto place =
        find_octets(direction, at, {reinterpret_cast<const char*>(wanted.data()), wanted.size()});
    if (place) return index_.octet(place->stream->flow, place->offset);
  }
  const Stream* latest_stream = nullptr;
  const Event* latest = nullptr;
  for (const Stream& stream : streams_) {
    const auto after = std::ranges::upper_bound(stream.events, at, {}, &Event::at);
    if (stream.direction != direction || after == stream.events.begin()) continue;
    const Event& last = *(after - 1);
    if (latest != nullptr && latest->at > last.at) continue;
    latest_stream = &stream;
    latest = &last;
  }
  return latest == nullptr ? std::nullopt : frame_of(*latest_stream, *latest);
}

// Of all places of these octets: of our own octets the first that was sent at or after `at`; of the
// IUT's the last that had arrived by then; if there is none, the nearest in time.
std::optional<FrameFinder::Place> FrameFinder::find_octets(Direction direction, Offset at,
                                                           std::string_view octets) const {
  std::optional<Place> best;
  const auto badness = [&](const Place& place) {
    const Offset late = direction == Direction::to_iut ? place.at - at : at - place.at;
    return std::pair(late < Offset::zero(), late < Offset::zero() ? -late : late);
  };
  for (const Stream& stream : streams_) {
    if (stream.direction != direction) continue;
    const auto place = direction == Direction::to_iut ? sent_since(stream, at, octets)
                                                      : arrived_by(stream, at, octets);
    if (place && (!best || badness(*place) < badness(*best))) best = place;
  }
  return best;
}

// Both search from the time on, not the whole stream: a transfer of mebibytes has thousands of
// lines.
std::optional<FrameFinder::Place> FrameFinder::sent_since(const Stream& stream, Offset at,
                                                          std::string_view octets) {
  const auto since = std::ranges::lower_bound(stream.events, at, {}, &Event::at);
  if (const auto place = first_in(stream, since, stream.events.end(), octets)) return place;
  return last_before(stream, since, octets);
}

std::optional<FrameFinder::Place> FrameFinder::arrived_by(const Stream& stream, Offset at,
                                                          std::string_view octets) {
  const auto later = std::ranges::upper_bound(stream.events, at, {}, &Event::at);
  if (const auto place = last_before(stream, later, octets)) return place;
  return first_in(stream, later, stream.events.end(), octets);
}

// The octets may begin in an earlier event: they are there when the last of them is.
std::optional<FrameFinder::Place> FrameFinder::first_in(const Stream& stream, Events begin,
                                                        Events end, std::string_view octets) {
  if (begin == end) return std::nullopt;
  const std::uint64_t before = begin == stream.events.begin() ? 0 : (begin - 1)->end;
  const std::uint64_t from = before < octets.size() ? 0 : before - octets.size() + 1;
  const auto within = std::string_view(stream.octets).substr(0, (end - 1)->end);
  const auto offset = within.find(octets, from);
  if (offset == std::string_view::npos) return std::nullopt;
  const auto event = std::ranges::lower_bound(begin, end, offset + octets.size(), {}, &Event::end);
  return Place{&stream, offset, event->at};
}

std::optional<FrameFinder::Place> FrameFinder::last_before(const Stream& stream, Events end,
                                                           std::string_view octets) {
  while (end != stream.events.begin()) {
    const auto event = end - 1;
    if (const auto place = first_in(stream, event, end, octets)) return place;
    end = event;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> FrameFinder::frame_of(const Stream& stream, const Event& event) const {
  switch (event.kind) {
    case Kind::opened:
      return index_.syn(stream.flow);
    case Kind::fin:
      return index_.fin(stream.flow);
    case Kind::reset:
      return index_.reset(stream.flow);
    case Kind::data:
      return event.end == 0 ? std::nullopt : index_.octet(stream.flow, event.end - 1);
  }
  return {};
}

}  // namespace suite::runner
