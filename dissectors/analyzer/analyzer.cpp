// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/analyzer.hpp"

#include <algorithm>
#include <vector>

#include "dissectors/analyzer/connection_table.hpp"

namespace dissectors::analyzer {

struct Analyzer::State {
  using Place = ConnectionTable::Place;

  State(const Options& chosen, Sink& sink)
      : options(chosen), shared{sink, {}, {}}, connections(chosen.parts) {
    // Connections are not spread evenly over parts: an eighth more leaves room for that.
    room = options.connections / options.parts;
    if (options.parts > 1) room = std::max<std::size_t>(8, room) * 9 / 8;
  }

  ConnectionState& open(const capture::Flow& flow, std::size_t part, std::uint64_t time);
  void segment(const capture::Segment& segment, std::uint32_t frame, std::uint64_t time);
  ConnectionState& connection(const capture::Segment& segment, std::uint64_t time);
  [[nodiscard]] bool is_idle(Place place, std::uint64_t time) const;
  void age(std::size_t part, std::uint64_t time);
  void age_out(std::size_t part, const char* why);

  Options options;
  Shared shared;
  std::size_t room;  ///< of a part, for connections
  std::vector<std::uint16_t> ports;
  ConnectionTable connections;
  std::uint64_t next_number = 1;
};

ConnectionState& Analyzer::State::open(const capture::Flow& flow, std::size_t part,
                                       std::uint64_t time) {
  while (connections.size(part) > 0 && connections.size(part) >= room)
    age_out(part, "closed by the analyzer: no room for more connections");
  Connection fresh;
  fresh.number = next_number++;
  fresh.first = flow.from;
  fresh.second = flow.to;
  ConnectionState& opened =
      connections[connections.add(std::make_unique<ConnectionState>(shared, options, fresh), time)];
  if (std::ranges::any_of(ports, [&](std::uint16_t port) {
        return port == flow.from.port || port == flow.to.port;
      }))
    opened.force_iwarp();
  return opened;
}

void Analyzer::State::segment(const capture::Segment& segment, std::uint32_t frame,
                              std::uint64_t time) {
  // Most segments belong to the same connection as the one before.
  if (const Place latest = connections.used_last(); !segment.syn && latest != ConnectionTable::none)
    if (const auto direction = connections[latest].direction_of(segment.flow);
        direction && !is_idle(connections.used_first(connections.part_of_place(latest)), time)) {
      connections.use(latest, time);
      return connections[latest].segment(*direction, segment, frame, time);
    }
  ConnectionState& it = connection(segment, time);
  it.segment(*it.direction_of(segment.flow), segment, frame, time);
}

ConnectionState& Analyzer::State::connection(const capture::Segment& segment, std::uint64_t time) {
  const std::uint32_t hash = capture::hash_of(segment.flow);
  const std::size_t part = connections.part_of(hash);
  age(part, time);
  const Place found = connections.find(segment.flow, hash);
  if (found == ConnectionTable::none) return open(segment.flow, part, time);
  ConnectionState& which = connections[found];
  if (which.opens_another(*which.direction_of(segment.flow), segment)) {
    which.close();
    connections.erase(found);
    return open(segment.flow, part, time);
  }
  connections.use(found, time);
  return which;
}

bool Analyzer::State::is_idle(Place place, std::uint64_t time) const {
  const std::uint64_t last_time = connections.time_of(place);
  return time > last_time && time - last_time > options.idle_limit;
}

void Analyzer::State::age(std::size_t part, std::uint64_t time) {
  while (connections.size(part) > 0 && is_idle(connections.used_first(part), time))
    age_out(part, "closed by the analyzer: idle for too long");
}

void Analyzer::State::age_out(std::size_t part, const char* why) {
  const Place idlest = connections.used_first(part);
  connections[idlest].aged_out(why);
  connections.erase(idlest);
}

Analyzer::Analyzer(const Options& options, Sink& sink)
    : state_(std::make_unique<State>(options, sink)) {}
Analyzer::Analyzer(Analyzer&&) noexcept = default;
Analyzer& Analyzer::operator=(Analyzer&&) noexcept = default;
Analyzer::~Analyzer() = default;

void Analyzer::segment(const capture::Segment& segment, std::uint32_t frame, std::uint64_t time) {
  ++state_->shared.counts.segments;
  state_->shared.counts.octets += segment.payload_length;
  state_->segment(segment, frame, time);
}

void Analyzer::age(std::uint64_t time) {
  for (std::size_t part = 0; part < state_->connections.parts(); ++part) state_->age(part, time);
}

void Analyzer::treat_as_iwarp(std::uint16_t port) {
  state_->ports.push_back(port);
  state_->connections.for_each([port](ConnectionState& each) {
    if (each.connection().first.port == port || each.connection().second.port == port)
      each.force_iwarp();
  });
}

void Analyzer::finish() {
  state_->connections.for_each([](ConnectionState& each) { each.close(); });
  state_->connections = ConnectionTable(state_->options.parts);
}

const Counts& Analyzer::counts() const { return state_->shared.counts; }

std::size_t Analyzer::memory() const {
  std::size_t octets = 0;
  state_->connections.for_each([&octets](const ConnectionState& each) { octets += each.memory(); });
  return octets;
}

}  // namespace dissectors::analyzer
