// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One connection of a capture: TCP reassembly of both directions, before the judge of its octets.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dissectors/analyzer/stream_judge.hpp"
#include "dissectors/analyzer/tcp_reassembly.hpp"

namespace dissectors::analyzer {

class ConnectionState final {
 public:
  ConnectionState(Shared& shared, const Options& options, const Connection& connection);
  ConnectionState(const ConnectionState&) = delete;
  ConnectionState& operator=(const ConnectionState&) = delete;
  ~ConnectionState() = default;

  [[nodiscard]] const Connection& connection() const { return judge_.connection(); }
  /// The direction of a flow; nothing if it is another connection's.
  [[nodiscard]] std::optional<Direction> direction_of(const capture::Flow& flow) const {
    const Connection& own = connection();
    if (flow.from == own.first && flow.to == own.second) return Direction::from_first;
    if (flow.from == own.second && flow.to == own.first) return Direction::from_second;
    return std::nullopt;
  }
  /// Decode As.
  void force_iwarp() { judge_.force_iwarp(); }
  void segment(Direction direction, const capture::Segment& segment, std::uint32_t frame,
               std::uint64_t time);
  /// The segment, a SYN, opens another connection with the same addresses and ports.
  [[nodiscard]] bool opens_another(Direction direction, const capture::Segment& segment) const;
  /// Reports what is left to report. Nothing is accepted after this.
  void close();
  void aged_out(std::string why);
  [[nodiscard]] std::size_t memory() const;

 private:
  /// Adds the direction to the calls of one direction's reassembly.
  struct Receiver final : StreamReceiver {
    Receiver(ConnectionState& state, Direction which) : owner(state), direction(which) {}
    void octets(const Chunk& chunk) override { owner.octets(direction, chunk); }
    void hole(std::uint64_t offset, std::uint64_t length, bool for_want_of_room,
              const SegmentFacts& by) override {
      owner.stream_hole(direction, offset, length, for_want_of_room, by);
    }
    void out_of_window(const SegmentFacts& what) override;
    void differs(std::uint64_t offset, std::uint64_t length, const SegmentFacts& by) override;
    void ended(Ending ending, std::uint64_t offset, const SegmentFacts& by) override {
      owner.stream_ended(direction, ending, offset, by);
    }
    ConnectionState& owner;
    Direction direction;
  };
  /// A segment whose sender knew of octets that the capture has not shown yet: it waits for them,
  /// so that the judge gets everything in the order of cause and effect.
  struct Delayed {
    capture::Segment segment;
    std::vector<std::byte> payload;  ///< what the segment views
    std::uint32_t frame = 0;
    std::uint64_t time = 0;
  };
  struct Side {
    Side(ConnectionState& state, Direction direction, std::size_t limit)
        : stream(limit), receiver(state, direction) {}
    TcpReassembly stream;
    Receiver receiver;
    std::uint16_t mss = 0;                 ///< that it announced; 0: none
    std::uint64_t sound = 0, unsound = 0;  ///< segments, by their TCP checksums
    bool seen = false, begun = false, cut = false, ended = false;
    std::uint64_t octets = 0;
    std::vector<Delayed> delayed;  ///< in the order in which they came
    std::size_t delayed_octets = 0;
  };
  Side& side(Direction direction) { return sides_[static_cast<std::size_t>(direction)]; }

  [[nodiscard]] bool damaged(Direction direction, const capture::Segment& segment);
  [[nodiscard]] static bool is_next(const Side& from, const Side& to,
                                    const capture::Segment& segment);
  void take_or_delay(Direction direction, const capture::Segment& segment, std::uint32_t frame,
                     std::uint64_t time);
  void take(Direction direction, const capture::Segment& segment, std::uint32_t frame,
            std::uint64_t time);
  [[nodiscard]] static bool is_early(const Side& to, const capture::Segment& segment,
                                     std::uint64_t time);
  void delay(Side& from, const capture::Segment& segment, std::uint32_t frame, std::uint64_t time);
  void release(std::uint64_t time);
  bool release_first(Side& from, std::uint64_t time);
  bool supply(Side& from);
  [[nodiscard]] std::optional<std::uint64_t> received(Direction sender,
                                                      const capture::Segment& segment);
  void begin(Direction direction);
  void octets(Direction direction, const Chunk& chunk);
  void stream_hole(Direction direction, std::uint64_t offset, std::uint64_t length,
                   bool for_want_of_room, const SegmentFacts& by);
  void stream_ended(Direction direction, Ending ending, std::uint64_t offset,
                    const SegmentFacts& by);
  void say(NoteKind kind, Direction direction, std::string text);

  Shared& shared_;
  StreamJudge judge_;
  std::array<Side, 2> sides_;
  SegmentFacts last_;
  bool counted_ = false, closed_ = false;
};

}  // namespace dissectors::analyzer
