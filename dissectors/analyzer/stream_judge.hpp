// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The judge of one connection: octets of both directions in stream order in, events and broken rules
// out. From a capture it gets the octets of TCP reassembly; from a participant in the connection,
// the octets that its socket receives, and a description of its own messages.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "dissectors/analyzer/analyzer.hpp"
#include "dissectors/analyzer/message_tracker.hpp"
#include "dissectors/analyzer/mpa_framing.hpp"

namespace dissectors::analyzer {

/// What all connections of one analyzer share.
struct Shared {
  Sink& sink;
  Counts counts;
  FramingScratch scratch;
};

/// What only a participant in the connection, the tester, can know. Its own octets may be wrong on
/// purpose, so they are not read: it describes what each frame and FPDU is meant to be, and is
/// never blamed. Its calls come in the order in which it sent and received, so when it receives
/// something, the other end cannot have known what it had not sent by then.
struct Knowledge {
  Direction tester = Direction::from_first;
  Role role_of_tester = Role::initiator;
};

class StreamJudge final : private FramingListener, private Reporter {
 public:
  /// `pick_up`: take a connection for iWARP whose startup was not seen, where its octets fit.
  StreamJudge(Shared& shared, const Connection& connection, bool pick_up);
  StreamJudge(Shared& shared, const Connection& connection, const Knowledge& knowledge);
  StreamJudge(const StreamJudge&) = delete;
  StreamJudge& operator=(const StreamJudge&) = delete;
  ~StreamJudge() override = default;

  [[nodiscard]] const Connection& connection() const { return connection_; }
  /// Some octets were taken for MPA.
  [[nodiscard]] bool is_iwarp() const { return framing_.is_iwarp(); }
  /// It was reported that the connection is not iWARP.
  [[nodiscard]] bool given_up() const { return framing_.given_up(); }
  [[nodiscard]] std::size_t memory() const { return sizeof *this + framing_.memory(); }

  // -- knowledge in addition to the octets --
  /// Decode As.
  void force_iwarp() { framing_.force_iwarp(); }
  void announced_mss(Direction from, std::uint16_t mss) { framing_.announced_mss(from, mss); }
  void advertised(Direction from, const capture::Segment& segment) {
    framing_.advertised(from, segment);
  }
  [[nodiscard]] std::uint64_t reach(Direction from) { return framing_.reach(from); }
  /// The EMSS of the connection as the tester sees it now (RFC 5044 section 4.5).
  void emss(std::size_t octets);

  // -- the octets of a direction --
  /// The stream begins here: `from_syn` if the connection's first octets are to come.
  void begins(Direction direction, bool from_syn, std::uint32_t origin_sequence) {
    framing_.begins(direction, from_syn, origin_sequence);
  }
  /// The beginning of at least one direction was not captured.
  void miss_beginning();
  void octets(Direction direction, const Chunk& chunk) { framing_.octets(direction, chunk); }
  void missing(Direction direction, std::uint64_t offset, std::uint64_t length,
               const SegmentFacts& by) {
    framing_.hole(direction, offset, length, by);
  }

  // -- what the tester sends, as it means it --
  void sent(const MpaFrameSeen& frame);
  /// The ULPDU of an FPDU. One that is not `intact`, with a wrong CRC say, may be blamed by the other
  /// end, and must have no other effect.
  void sent(Bytes ulpdu, const Place& place, bool intact);
  /// Octets of which it does not say what they mean, part of an FPDU, say: what the other end reads in
  /// them it may blame, and nothing else follows from them.
  void sent_undescribed();

  // -- the end --
  /// Nothing more comes in this direction: judges the rest as far as possible.
  void finish(Direction direction, Rest rest);
  /// The direction has ended; finish() has been called.
  void ended(Direction direction, Ending ending, const Place& place);
  /// Says what is left to say. Nothing is taken any more.
  void close();

  void note(const Note& note) override;

 private:
  /// What an end sent that the other one has to take for an error of the stream.
  struct Error {
    std::string_view rule;
    std::uint32_t frame = 0;  ///< 0: nothing yet
  };

  MessageTracker& tracker();
  void look_for_terminate(Direction direction, Ending ending, const Place& place);

  void mpa_frame(const MpaFrameSeen& frame) override;
  void fpdu(const FpduSeen& fpdu) override;
  void hole(Direction direction, const Place& place) override;
  void finding(const Finding& finding) override;
  void message(const MessageSeen& message) override;

  Shared& shared_;
  Connection connection_;
  std::optional<Knowledge> knowledge_;
  bool beginning_missed_ = false;
  bool closing_ = false;         ///< an end has closed its direction
  std::array<Error, 2> errors_;  ///< the latest of each end
  JudgedChecks judged_{};
  MpaFraming framing_;
  std::unique_ptr<MessageTracker> tracker_;
};

}  // namespace dissectors::analyzer
