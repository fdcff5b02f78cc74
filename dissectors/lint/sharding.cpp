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

#include "base/fetch_ahead.hpp"

namespace dissectors::lint {

namespace {

// A round is what is passed to the shards at once: large enough that waking threads costs little in
// comparison, small enough that several of them need little memory.
constexpr std::size_t round_octets = std::size_t{4} << 20;
constexpr std::size_t round_frames = 8192;
constexpr std::size_t rounds_in_flight = 4;
// A thread takes the rows of whichever shard has one that waits. With as many shards as threads, one
// of these would wait where the connections of a round happen to be another's.
constexpr std::size_t shards_of_a_thread = 8;
// However many shards there are, so that what becomes of a connection does not depend on them. A shard
// has one or more of these parts.
constexpr std::size_t parts = 64;

// So often while a connection is idle until it is closed.
constexpr std::uint64_t ticks_while_idle = 10;

constexpr std::uint32_t none = ~std::uint32_t{0};

/// A frame that holds a segment, or without octets, only the time of one. Whoever takes it reads it once
/// more, which costs less than to pass on what was read.
struct Piece {
  base::Bytes octets;  ///< those of the round, unless frames stay
  std::uint64_t time = 0;
  std::uint32_t frame = 0;
  std::uint32_t next = none;  ///< piece of the same shard
};

/// The pieces of a shard in a round.
struct Row {
  std::uint32_t first = none, last = none;
};

struct Round {
  std::vector<std::byte> octets;  ///< never grows beyond what was reserved: pieces view it
  std::vector<Piece> pieces;      ///< of all shards: any of them may have nearly all
  std::vector<Row> rows;          ///< by shard
  std::vector<std::vector<Record>> records;  ///< by shard
  std::size_t pending = 0;                   ///< shards that are not done with it
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
  void pass(std::uint32_t frame, std::uint64_t time) {
    collector.at(frame, time);
    analyzer.age(time);
  }
  Collector collector;
  analyzer::Analyzer analyzer;
  std::unordered_map<std::uint64_t, std::uint64_t> numbers;  ///< of connections: ours to all's
};

/// Which part a shard is to take next.
struct Turn {
  std::uint64_t round = 0;
  bool busy = false;  ///< with a thread
};

/// A record of a shard.
struct Entry {
  Shard* shard = nullptr;
  Record* record = nullptr;
};

}  // namespace

struct Sharding::State {
  State(capture::LinkType link_type, const ShardingOptions& options, Output to)
      : link(link_type),
        frames_stay(options.frames_stay),
        tick(options.analyzer.idle_limit / ticks_while_idle),
        output(std::move(to)) {
    const std::size_t count =
        options.jobs > 1 ? std::min(options.jobs * shards_of_a_thread, parts) : 1;
    analyzer::Options in_parts = options.analyzer;
    in_parts.parts = parts;
    for (std::size_t i = 0; i < count; ++i)
      shards.push_back(std::make_unique<Shard>(in_parts, options));
    if (count == 1) return;
    turns.resize(count);
    filling = fresh_round();
    for (unsigned i = 1; i < options.jobs; ++i) threads.emplace_back([this] { work(); });
  }
  ~State() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    work_there.notify_all();
  }

  // ---- any thread

  struct Part {
    Round* round = nullptr;
    std::size_t shard = 0;
  };

  // The oldest part of a round that no earlier one of its shard is before.
  Part waiting_part() {
    for (std::size_t i = 0; i < in_flight.size(); ++i)
      for (std::size_t shard = 0; shard < turns.size(); ++shard)
        if (!turns[shard].busy && turns[shard].round == rounds_reported + i)
          return {in_flight[i].get(), shard};
    return {};
  }

  void take(Shard& shard, const Round& round, const Piece& piece) const {
    // The one after the next: after a mere acknowledgement the next would not be there in time.
    if (piece.next != none)
      if (const std::uint32_t second = round.pieces[piece.next].next; second != none)
        base::fetch_ahead(round.pieces[second].octets);
    if (piece.octets.empty()) return shard.pass(piece.frame, piece.time);
    auto segment = capture::parse_segment(link, piece.octets);
    if (!segment) return;  // somebody has changed the file meanwhile
    segment->payload_stays = frames_stay;
    shard.take(*segment, piece.frame, piece.time);
  }

  void take(const Part& part, std::unique_lock<std::mutex>& lock) {
    Shard& shard = *shards[part.shard];
    Round& round = *part.round;
    if (const std::uint32_t first = round.rows[part.shard].first; first != none) {
      turns[part.shard].busy = true;
      lock.unlock();
      for (std::uint32_t at = first; at != none; at = round.pieces[at].next)
        take(shard, round, round.pieces[at]);
      round.records[part.shard] = shard.collector.take();
      lock.lock();
      turns[part.shard].busy = false;
    }
    ++turns[part.shard].round;
    work_there.notify_one();  // the next part of this shard
    if (--round.pending == 0) round_done.notify_one();
  }

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      Part part;
      work_there.wait(lock, [&] { return stopping || (part = waiting_part()).round != nullptr; });
      if (stopping) return;
      take(part, lock);
    }
  }

  // ---- the caller's thread

  std::unique_ptr<Round> fresh_round() {
    auto round = std::move(spare);
    if (!round) {
      round = std::make_unique<Round>();
      if (!frames_stay) round->octets.reserve(round_octets);
      round->pieces.reserve(round_frames);
      round->records.resize(shards.size());
    }
    round->octets.clear();
    round->pieces.clear();
    round->rows.assign(shards.size(), {});
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

  // Reports the results of the oldest round. Until they are there this thread analyzes too: one thread more than
  // processors would be waited for.
  void collect() {
    {
      std::unique_lock lock(mutex);
      while (in_flight.front()->pending > 0) {
        if (const Part part = waiting_part(); part.round != nullptr)
          take(part, lock);
        else
          round_done.wait(lock);
      }
      spare = std::move(in_flight.front());
      in_flight.pop_front();
      ++rounds_reported;
    }
    report(spare->records);
  }

  void report(std::vector<std::vector<Record>>& lists) {
    std::vector<Entry> all;
    for (std::size_t shard = 0; shard < lists.size(); ++shard)
      for (Record& record : lists[shard]) all.emplace_back(shards[shard].get(), &record);
    std::ranges::stable_sort(all, {}, [](const Entry& entry) { return entry.record->frame; });
    for (auto rest = std::span(all); !rest.empty();) {
      const auto of_another = [&](const Entry& entry) {
        return entry.record->frame != rest.front().record->frame;
      };
      const auto end = std::ranges::find_if(rest, of_another);
      report_frame(rest.first(static_cast<std::size_t>(end - rest.begin())));
      rest = {end, rest.end()};
    }
    for (auto& list : lists) list.clear();
  }

  // A frame belongs to one connection; others come in when they are closed for being idle, or for lack of
  // room. The order of their numbers does not depend on the shards; a connection without one is opened
  // by this frame.
  void report_frame(std::span<Entry> entries) {
    const auto number = [](const Entry& entry) {
      const auto found = entry.shard->numbers.find(entry.record->connection.number);
      return found == entry.shard->numbers.end() ? ~std::uint64_t{0} : found->second;
    };
    const auto of_another = [](const Entry& one, const Entry& other) {
      return one.shard != other.shard ||
             one.record->connection.number != other.record->connection.number;
    };
    if (std::ranges::adjacent_find(entries, of_another) != entries.end())
      std::ranges::stable_sort(entries, {}, number);
    for (const Entry& entry : entries) report(*entry.shard, std::move(*entry.record));
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

  // By them, idle connections are closed though nothing comes for their parts.
  bool ticks() {
    if (time < latest_tick || time - latest_tick < tick) return false;
    latest_tick = time;
    return true;
  }

  // With one job.
  std::expected<void, capture::NoSegment> judge(const capture::FrameView& frame) {
    Shard& shard = *shards.front();
    if (ticks()) shard.pass(frame_number, time);
    auto segment = capture::parse_segment(link, frame.octets);
    if (segment) {
      segment->payload_stays = frames_stay;
      shard.take(*segment, frame_number, time);
    }
    if (!shard.collector.empty()) report_at_once(shard);  // not so after nearly every frame
    if (!segment) return std::unexpected(segment.error());
    return {};
  }

  void report_at_once(Shard& shard) {
    auto records = shard.collector.take();
    std::vector<Entry> entries;
    for (Record& record : records) entries.emplace_back(&shard, &record);
    report_frame(entries);
  }

  [[nodiscard]] std::size_t shard_of(std::uint32_t hash) const {
    return capture::part_of(hash, parts) * shards.size() / parts;
  }

  // With several.
  std::expected<void, capture::NoSegment> pass_on(const capture::FrameView& frame) {
    if (ticks()) pass_tick_on();
    const auto hash = capture::hash_of_segment(link, frame.octets);
    if (!hash) return std::unexpected(hash.error());
    const bool full = filling->octets.size() + frame.octets.size() > round_octets;
    if (filling->pieces.size() == round_frames || (full && !frames_stay)) send();
    append(shard_of(*hash), frames_stay ? frame.octets : copied(frame.octets));
    return {};
  }

  void pass_tick_on() {
    if (filling->pieces.size() + shards.size() > round_frames) send();
    for (std::size_t shard = 0; shard < shards.size(); ++shard) append(shard, {});
  }

  void append(std::size_t shard, base::Bytes octets) {
    const auto at = static_cast<std::uint32_t>(filling->pieces.size());
    filling->pieces.emplace_back(octets, time, frame_number);
    Row& row = filling->rows[shard];
    (row.last == none ? row.first : filling->pieces[row.last].next) = at;
    row.last = at;
  }

  base::Bytes copied(base::Bytes octets) {
    auto& all = filling->octets;
    all.insert(all.end(), octets.begin(), octets.end());
    return base::Bytes(all).last(octets.size());
  }

  capture::LinkType link;
  bool frames_stay;
  std::uint64_t tick;  ///< nanoseconds
  Output output;
  FrameCounts counts;
  std::uint32_t frame_number = 0;
  std::uint64_t time = 0;  ///< of the latest frame
  std::uint64_t latest_tick = 0;
  std::uint64_t connections = 0, iwarp_connections = 0;
  std::vector<std::unique_ptr<Shard>> shards;
  std::unique_ptr<Round> filling, spare;

  std::mutex mutex;  ///< of the five below, and of `pending` in each round
  std::condition_variable work_there, round_done;
  std::deque<std::unique_ptr<Round>> in_flight;  ///< changed by the caller's thread only
  std::uint64_t rounds_reported = 0;             ///< rounds that are no longer in flight
  std::vector<Turn> turns;                       ///< by shard
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
  const auto taken = state.threads.empty() ? state.judge(frame) : state.pass_on(frame);
  if (taken)
    ++state.counts.tcp;
  else if (taken.error() == capture::NoSegment::fragment)
    ++state.counts.fragments;
  else if (taken.error() == capture::NoSegment::malformed)
    ++state.counts.malformed;
}

void Sharding::flush() {
  State& state = *state_;
  if (state.threads.empty()) return;
  if (!state.filling->pieces.empty()) state.send();
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
