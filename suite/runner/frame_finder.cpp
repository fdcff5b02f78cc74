// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/frame_finder.hpp"

#include <algorithm>

#include "suite/runner/worker_words.hpp"

namespace suite::runner {

namespace {

using cases::ConnectionRecord;
using cases::Direction;
using cases::Offset;
using dissectors::capture::Endpoint;
using dissectors::capture::Flow;
using Kind = ConnectionRecord::Mark::Kind;

// What is noted and the connection's own record of it may differ by the time between two looks at the clock.
constexpr Offset slack = std::chrono::milliseconds(1);

Endpoint endpoint(const rnic::llp::Address& address) {
  Endpoint result;
  result.ipv6 = address.family == rnic::llp::Family::ipv6;
  result.port = address.port;
  const auto octets = std::as_bytes(std::span(address.octets));
  std::ranges::copy(octets.first(result.ipv6 ? 16 : 4), result.address.begin());
  return result;
}

}  // namespace

Flow flow_to_iut(const ConnectionRecord& connection) { return {endpoint(connection.tester), endpoint(connection.iut)}; }

std::vector<dissectors::capture::Frame> synthesize(std::span<const ConnectionRecord> connections, std::uint64_t start) {
  struct Passed {
    Flow flow;
    const ConnectionRecord::Mark* mark;
  };
  std::vector<Passed> all;
  for (const ConnectionRecord& connection : connections) {
    const Flow to_iut = flow_to_iut(connection);
    for (const auto& mark : connection.marks) {
      const bool forward = mark.kind == Kind::opened ? connection.opened_by_tester : mark.direction == Direction::to_iut;
      all.push_back({forward ? to_iut : to_iut.reversed(), &mark});
    }
  }
  std::ranges::stable_sort(all, {}, [](const Passed& passed) { return passed.mark->at; });
  dissectors::capture::Synthesizer maker;
  for (const Passed& passed : all) {
    const std::uint64_t time = start + static_cast<std::uint64_t>(passed.mark->at.count());
    switch (passed.mark->kind) {
      case Kind::opened: maker.opened(passed.flow, time); break;
      case Kind::data: maker.data(passed.flow, time, passed.mark->octets); break;
      case Kind::fin: maker.closed(passed.flow, time); break;
      case Kind::reset: maker.reset(passed.flow, time); break;
    }
  }
  return maker.frames();
}

FrameFinder::FrameFinder(std::span<const ConnectionRecord> connections, dissectors::capture::StreamIndex index)
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
    if (mark.direction != direction || mark.kind == Kind::opened) continue;
    stream.octets.append(reinterpret_cast<const char*>(mark.octets.data()), mark.octets.size());
    stream.events.push_back({mark.at, mark.kind, stream.octets.size()});
  }
  if (!stream.events.empty()) streams_.push_back(std::move(stream));
}

std::optional<std::uint32_t> FrameFinder::find(Direction direction, Offset at, const std::string& hex) const {
  const auto wanted = from_hex(hex);
  const std::string_view pattern(reinterpret_cast<const char*>(wanted.data()), wanted.size());
  const Stream* latest_stream = nullptr;
  const Event* latest = nullptr;
  for (const Stream& stream : streams_) {
    if (stream.direction != direction) continue;
    const auto after = std::ranges::upper_bound(stream.events, at + slack, {}, &Event::at);
    if (after == stream.events.begin()) continue;
    const Event& last = *(after - 1);
    if (!pattern.empty()) {
      const auto position = std::string_view(stream.octets).substr(0, last.end).rfind(pattern);
      if (position != std::string_view::npos) return index_.octet(stream.flow, position);
    }
    if (latest == nullptr || latest->at <= last.at) {
      latest_stream = &stream;
      latest = &last;
    }
  }
  return latest == nullptr ? std::nullopt : frame_of(*latest_stream, *latest);
}

std::optional<std::uint32_t> FrameFinder::frame_of(const Stream& stream, const Event& event) const {
  switch (event.kind) {
    case Kind::fin: return index_.fin(stream.flow);
    case Kind::reset: return index_.reset(stream.flow);
    default: return event.end == 0 ? std::nullopt : index_.octet(stream.flow, event.end - 1);
  }
}

}  // namespace suite::runner
