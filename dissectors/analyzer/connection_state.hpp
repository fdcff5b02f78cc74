// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One connection in the analyzer: its layers, tied together, and what the face is told of it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "dissectors/analyzer/analyzer.hpp"
#include "dissectors/analyzer/message_tracker.hpp"
#include "dissectors/analyzer/mpa_framing.hpp"
#include "dissectors/analyzer/tcp_reassembly.hpp"

namespace dissectors::analyzer {

/// What all connections of one analyzer share.
struct Shared {
  Sink& sink;
  Counts counts;
  FramingScratch scratch;
};

class ConnectionState final : private FramingListener, private Voice {
 public:
  ConnectionState(Shared& shared, const Options& options, const Connection& connection);
  ConnectionState(const ConnectionState&) = delete;
  ConnectionState& operator=(const ConnectionState&) = delete;
  ~ConnectionState() override = default;

  [[nodiscard]] const Connection& connection() const { return connection_; }
  [[nodiscard]] Direction direction_of(const capture::Flow& flow) const {
    return flow.from == connection_.first ? Direction::from_first : Direction::from_second;
  }
  /// Decode As.
  void insist() { framing_.insist(); }
  void segment(Direction direction, const capture::Segment& segment, std::uint32_t frame,
               std::uint64_t time);
  /// The segment, a SYN, opens the same addresses and ports anew.
  [[nodiscard]] bool opens_another(Direction direction, const capture::Segment& segment) const;
  /// Says what is left to say. Nothing is taken any more.
  void close();
  void aged_out(std::string why);
  [[nodiscard]] std::uint64_t last_time() const { return last_.time; }
  [[nodiscard]] std::size_t memory() const;

 private:
  /// Gives the calls of one direction's reassembly their direction.
  struct Receiver final : StreamReceiver {
    Receiver(ConnectionState& state, Direction which) : owner(state), direction(which) {}
    void octets(const Chunk& chunk) override { owner.octets(direction, chunk); }
    void hole(std::uint64_t offset, std::uint64_t length, bool for_want_of_room,
              const SegmentFacts& by) override {
      owner.stream_hole(direction, offset, length, for_want_of_room, by);
    }
    void differs(std::uint64_t offset, std::uint64_t length, const SegmentFacts& by) override;
    void ended(Ending ending, std::uint64_t offset, const SegmentFacts& by) override {
      owner.stream_ended(direction, ending, offset, by);
    }
    ConnectionState& owner;
    Direction direction;
  };
  struct Side {
    Side(ConnectionState& state, Direction direction, std::size_t limit)
        : stream(limit), receiver(state, direction) {}
    TcpReassembly stream;
    Receiver receiver;
    bool seen = false, begun = false, cut = false, ended = false;
    std::uint64_t octets = 0;
  };
  Side& side(Direction direction) { return sides_[static_cast<std::size_t>(direction)]; }

  void begin(Direction direction);
  void octets(Direction direction, const Chunk& chunk);
  void stream_hole(Direction direction, std::uint64_t offset, std::uint64_t length,
                   bool for_want_of_room, const SegmentFacts& by);
  void stream_ended(Direction direction, Ending ending, std::uint64_t offset,
                    const SegmentFacts& by);
  MessageTracker& tracker();
  void say(NoteKind kind, Direction direction, std::string text);

  void mpa_frame(const MpaFrameSeen& frame) override;
  void fpdu(const FpduSeen& fpdu) override;
  void hole(Direction direction, const Place& place) override;
  void finding(const Finding& finding) override;
  void note(const Note& note) override;
  void message(const MessageSeen& message) override;
  [[nodiscard]] bool wants_summaries() const override { return shared_.sink.wants_summaries(); }

  Shared& shared_;
  Connection connection_;
  MpaFraming framing_;
  std::array<Side, 2> sides_;
  std::unique_ptr<MessageTracker> tracker_;
  SegmentFacts last_;
  bool counted_ = false, closed_ = false;
};

}  // namespace dissectors::analyzer
