// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/analyzer.hpp"

#include <algorithm>
#include <cstring>
#include <list>
#include <unordered_map>
#include <vector>

#include "dissectors/analyzer/connection_state.hpp"

namespace dissectors::analyzer {

namespace {

/// Both directions of a connection are the same key, whichever was seen first.
struct FlowHash {
  static std::uint64_t mix(std::uint64_t value) {
    // The finalizer of a multiplicative hash: similar addresses and ports get very different
    // values.
    value ^= value >> 31;
    value *= 0x9E3779B97F4A7C15U;
    return value ^ (value >> 29);
  }
  static std::uint64_t of(const capture::Endpoint& end) {
    std::array<std::uint64_t, 2> words{};
    static_assert(sizeof words == sizeof end.address);
    std::memcpy(words.data(), end.address.data(), sizeof words);
    return mix(mix(words[0] + end.port) + words[1]);
  }
  std::size_t operator()(const capture::Flow& flow) const {
    return static_cast<std::size_t>(of(flow.from) + of(flow.to));
  }
};
struct FlowEqual {
  bool operator()(const capture::Flow& one, const capture::Flow& other) const {
    return (one.from == other.from && one.to == other.to) ||
           (one.from == other.to && one.to == other.from);
  }
};

bool is_of(const capture::Flow& flow, const Connection& connection) {
  return (flow.from == connection.first && flow.to == connection.second) ||
         (flow.from == connection.second && flow.to == connection.first);
}

}  // namespace

struct Analyzer::State {
  using Connections = std::list<ConnectionState>;

  State(const Options& chosen, Sink& sink) : options(chosen), shared{sink, {}, {}} {}

  ConnectionState& open(const capture::Flow& flow);
  ConnectionState& connection(const capture::Segment& segment);
  void age(std::uint64_t time);
  void erase(Connections::iterator which);

  Options options;
  Shared shared;
  std::vector<std::uint16_t> ports;
  Connections connections;  ///< the one idle longest first
  std::unordered_map<capture::Flow, Connections::iterator, FlowHash, FlowEqual> table;
  std::uint64_t next_number = 1;
};

ConnectionState& Analyzer::State::open(const capture::Flow& flow) {
  while (!connections.empty() && connections.size() >= options.connections) {
    connections.front().aged_out("closed by the analyzer: no room for more connections");
    erase(connections.begin());
  }
  Connection fresh;
  fresh.number = next_number++;
  fresh.first = flow.from;
  fresh.second = flow.to;
  auto& opened = connections.emplace_back(shared, options, fresh);
  table.emplace(flow, std::prev(connections.end()));
  if (std::ranges::any_of(ports, [&](std::uint16_t port) {
        return port == flow.from.port || port == flow.to.port;
      }))
    opened.force_iwarp();
  return opened;
}

ConnectionState& Analyzer::State::connection(const capture::Segment& segment) {
  // Most segments belong to the same connection as the one before.
  if (!segment.syn && !connections.empty()) {
    const Connection& latest = connections.back().connection();
    if (is_of(segment.flow, latest)) return connections.back();
  }
  const auto found = table.find(segment.flow);
  if (found == table.end()) return open(segment.flow);
  const auto which = found->second;
  if (which->opens_another(which->direction_of(segment.flow), segment)) {
    which->close();
    erase(which);
    return open(segment.flow);
  }
  connections.splice(connections.end(), connections, which);
  return *which;
}

void Analyzer::State::age(std::uint64_t time) {
  while (!connections.empty() && time > connections.front().last_time() &&
         time - connections.front().last_time() > options.idle_limit) {
    connections.front().aged_out("closed by the analyzer: idle for too long");
    erase(connections.begin());
  }
}

void Analyzer::State::erase(Connections::iterator which) {
  table.erase(capture::Flow{which->connection().first, which->connection().second});
  connections.erase(which);
}

Analyzer::Analyzer(const Options& options, Sink& sink)
    : state_(std::make_unique<State>(options, sink)) {}
Analyzer::Analyzer(Analyzer&&) noexcept = default;
Analyzer& Analyzer::operator=(Analyzer&&) noexcept = default;
Analyzer::~Analyzer() = default;

void Analyzer::segment(const capture::Segment& segment, std::uint32_t frame, std::uint64_t time) {
  ++state_->shared.counts.segments;
  state_->shared.counts.octets += segment.payload_length;
  state_->age(time);
  ConnectionState& connection = state_->connection(segment);
  connection.segment(connection.direction_of(segment.flow), segment, frame, time);
}

void Analyzer::treat_as_iwarp(std::uint16_t port) {
  state_->ports.push_back(port);
  for (ConnectionState& each : state_->connections)
    if (each.connection().first.port == port || each.connection().second.port == port)
      each.force_iwarp();
}

void Analyzer::finish() {
  for (ConnectionState& each : state_->connections) each.close();
  state_->connections.clear();
  state_->table.clear();
}

const Counts& Analyzer::counts() const { return state_->shared.counts; }

std::size_t Analyzer::memory() const {
  std::size_t octets = 0;
  for (const ConnectionState& each : state_->connections) octets += each.memory();
  return octets;
}

}  // namespace dissectors::analyzer
