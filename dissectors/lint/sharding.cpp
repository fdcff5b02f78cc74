// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/lint/sharding.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

namespace dissectors::lint {

namespace {

// A round is what is passed to the shards at once: large enough that waking threads costs little in
// comparison, small enough that several of them need little memory.
constexpr std::size_t round_octets = std::size_t{4} << 20;
constexpr std::size_t round_frames = 16'384;
constexpr std::size_t rounds_in_flight = 3;

struct Piece {
  capture::Segment segment;  ///< views the round's octets
  std::uint32_t frame = 0;
  std::uint64_t time = 0;
};

struct Round {
  std::vector<std::byte> octets;           ///< never grows beyond what was reserved: pieces view it
  std::vector<std::vector<Piece>> pieces;  ///< by shard
  std::vector<std::vector<Record>> records;  ///< by shard
  std::size_t frames = 0;
  std::size_t pending = 0;  ///< shards that are not done with it
};

struct Shard {
  Shard(const analyzer::Options& options, const ShardingOptions& sharding)
      : collector(sharding.collector), analyzer(options, collector) {
    for (const std::uint16_t port : sharding.ports) analyzer.treat_as_iwarp(port);
  }
  void take(const capture::Segment& segment, std::uint32_t frame, std::uint64_t time) {
    collector.at(frame, time);
    analyzer.segment(segment, frame, time);
  }
  Collector collector;
  analyzer::Analyzer analyzer;
  std::unordered_map<std::uint64_t, std::uint64_t> numbers;  ///< of connections: ours to all's
};

// The same for both directions.
std::size_t shard_of(const capture::Flow& flow, std::size_t shards) {
  const auto mix = [](const capture::Endpoint& end) {
    std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
    const auto add = [&hash](unsigned octet) { hash = (hash ^ octet) * 0x100000001B3; };
    for (const std::byte octet : end.address) add(std::to_integer<unsigned>(octet));
    add(end.port & 0xFFU);
    add(end.port >> 8);
    return hash;
  };
  const std::uint64_t hash = mix(flow.from) + mix(flow.to);
  return static_cast<std::size_t>((hash ^ (hash >> 32)) % shards);
}

}  // namespace

struct Sharding::State {
  State(capture::LinkType link_type, const ShardingOptions& options, Output to)
      : link(link_type), frames_stay(options.frames_stay), output(std::move(to)) {
    const unsigned count = std::max(1U, options.shards);
    analyzer::Options part = options.analyzer;
    part.connections = std::max<std::size_t>(1, part.connections / count);
    for (unsigned i = 0; i < count; ++i) shards.push_back(std::make_unique<Shard>(part, options));
    if (count == 1) return;
    filling = fresh_round();
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back([this, i] { work(i); });
  }
  ~State() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    work_there.notify_all();
  }

  // ---- the shards' threads

  void work(std::size_t index) {
    for (std::uint64_t next = 0;; ++next) {
      Round* round = nullptr;
      {
        std::unique_lock lock(mutex);
        work_there.wait(lock,
                        [&] { return stopping || next < rounds_reported + in_flight.size(); });
        if (stopping) return;
        round = in_flight[static_cast<std::size_t>(next - rounds_reported)].get();
      }
      for (const Piece& piece : round->pieces[index])
        shards[index]->take(piece.segment, piece.frame, piece.time);
      round->records[index] = shards[index]->collector.take();
      const std::lock_guard lock(mutex);
      if (--round->pending == 0) round_done.notify_one();
    }
  }

  // ---- the caller's thread

  std::unique_ptr<Round> fresh_round() {
    auto round = std::move(spare);
    if (!round) {
      round = std::make_unique<Round>();
      if (!frames_stay) round->octets.reserve(round_octets);
      round->pieces.resize(shards.size());
      round->records.resize(shards.size());
    }
    round->octets.clear();
    for (auto& pieces : round->pieces) pieces.clear();
    round->frames = 0;
    round->pending = shards.size();
    return round;
  }

  void send() {
    {
      std::unique_lock lock(mutex);
      in_flight.push_back(std::move(filling));
    }
    work_there.notify_all();
    while (in_flight.size() >= rounds_in_flight) collect();
    filling = fresh_round();
  }

  // Waits for the oldest round and reports its results.
  void collect() {
    {
      std::unique_lock lock(mutex);
      round_done.wait(lock, [&] { return in_flight.front()->pending == 0; });
      spare = std::move(in_flight.front());
      in_flight.pop_front();
      ++rounds_reported;
    }
    report(spare->records);
  }

  // A frame belongs to one shard, so frames alone give the order.
  void report(std::vector<std::vector<Record>>& lists) {
    std::vector<std::pair<std::size_t, Record*>> all;
    for (std::size_t shard = 0; shard < lists.size(); ++shard)
      for (Record& record : lists[shard]) all.emplace_back(shard, &record);
    std::ranges::stable_sort(all, {}, [](const auto& entry) { return entry.second->frame; });
    for (const auto& [shard, record] : all) report(*shards[shard], std::move(*record));
    for (auto& list : lists) list.clear();
  }

  // Gives the record's connection its number among all connections.
  void number(Shard& shard, Record& record) {
    const std::uint64_t own = record.connection.number;
    std::uint64_t& among_all = shard.numbers[own];
    if (among_all == 0) among_all = ++connections;
    record.connection.number = among_all;
    if (auto* summary = std::get_if<ConnectionSummary>(&record.what)) {
      summary->connection.number = among_all;
      iwarp_connections += summary->iwarp ? 1 : 0;
      shard.numbers.erase(own);
    }
  }

  void report(Shard& shard, Record&& record) {
    number(shard, record);
    output(std::move(record));
  }

  // What analyzers report after the last frame is ordered by connection.
  void report_the_end() {
    std::vector<std::vector<Record>> lists;
    std::vector<Record*> all;
    for (const auto& shard : shards) {
      shard->collector.at(frame_number, time);  // of the last frame, whichever shard had it
      shard->analyzer.finish();
      for (Record& record : lists.emplace_back(shard->collector.take())) {
        number(*shard, record);
        all.push_back(&record);
      }
    }
    std::ranges::stable_sort(all, {},
                             [](const Record* record) { return record->connection.number; });
    for (Record* const record : all) output(std::move(*record));
  }

  void give(const capture::Segment& segment, const capture::FrameView& frame) {
    if (threads.empty()) {
      Shard& shard = *shards.front();
      shard.take(segment, frame_number, frame.time);
      if (shard.collector.empty()) return;  // as after nearly every frame
      for (Record& record : shard.collector.take()) report(shard, std::move(record));
      return;
    }
    const std::size_t size = segment.payload.size();
    if (filling->frames == round_frames || filling->octets.size() + size > round_octets) send();
    Piece piece{.segment = segment, .frame = frame_number, .time = frame.time};
    if (!frames_stay) {
      const std::size_t begin = filling->octets.size();
      filling->octets.insert(filling->octets.end(), segment.payload.begin(), segment.payload.end());
      piece.segment.payload = base::Bytes(filling->octets).subspan(begin);
    }
    filling->pieces[shard_of(segment.flow, shards.size())].push_back(piece);
    ++filling->frames;
  }

  capture::LinkType link;
  bool frames_stay;
  Output output;
  FrameCounts counts;
  std::uint32_t frame_number = 0;
  std::uint64_t time = 0;  ///< of the latest frame
  std::uint64_t connections = 0, iwarp_connections = 0;
  std::vector<std::unique_ptr<Shard>> shards;
  std::unique_ptr<Round> filling, spare;

  std::mutex mutex;  ///< of the four below, and of `pending` in each round
  std::condition_variable work_there, round_done;
  std::deque<std::unique_ptr<Round>> in_flight;  ///< changed by the caller's thread only
  std::uint64_t rounds_reported = 0;             ///< rounds that are no longer in flight
  bool stopping = false;
  std::vector<std::jthread> threads;  ///< last: joined before anything else goes
};

Sharding::Sharding(capture::LinkType link, const ShardingOptions& options, Output output)
    : state_(std::make_unique<State>(link, options, std::move(output))) {}
Sharding::~Sharding() = default;

void Sharding::frame(const capture::FrameView& frame) {
  State& state = *state_;
  ++state.counts.frames;
  // A number that would come up again is kept; no capture has that many frames.
  if (state.frame_number < std::numeric_limits<std::uint32_t>::max()) ++state.frame_number;
  state.time = frame.time;
  if (frame.octets.size() < frame.original_length) ++state.counts.cut;
  auto segment = capture::parse_segment(state.link, frame.octets);
  if (segment) {
    ++state.counts.tcp;
    segment->payload_stays = state.frames_stay;
    state.give(*segment, frame);
  } else if (segment.error() == capture::NoSegment::fragment) {
    ++state.counts.fragments;
  } else if (segment.error() == capture::NoSegment::malformed) {
    ++state.counts.malformed;
  }
}

void Sharding::flush() {
  State& state = *state_;
  if (state.threads.empty()) return;
  if (state.filling->frames > 0) state.send();
  while (!state.in_flight.empty()) state.collect();
}

Totals Sharding::finish() {
  State& state = *state_;
  flush();
  // All rounds are reported, so the shards' threads wait and access nothing.
  state.report_the_end();
  Totals totals;
  totals.frames = state.counts;
  for (const auto& shard : state.shards) {
    const analyzer::Counts& counts = shard->analyzer.counts();
    totals.fpdus += counts.fpdus;
    totals.judged.add(counts.judged);
    for (std::size_t kind = 0; kind < totals.notes.size(); ++kind)
      totals.notes[kind] += counts.notes[kind];
  }
  totals.connections = state.connections;
  totals.iwarp_connections = state.iwarp_connections;
  return totals;
}

}  // namespace dissectors::lint
