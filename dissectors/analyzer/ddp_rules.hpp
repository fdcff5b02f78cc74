// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// DDP as a trace shows it: segments reassembled into messages, and the rules of their headers,
// their sequence and their offsets (RFC 5041 sections 4 and 5).
#pragma once

#include <array>

#include "dissectors/analyzer/statement.hpp"

namespace dissectors::analyzer {

/// The place of a segment within its message.
struct MessageStep {
  bool first = false, last = false;
  bool known = false;        ///< followed from the first segment on
  std::uint64_t number = 0;  ///< of the message in its direction
  std::uint64_t octets = 0;  ///< payload so far, this segment included
  std::uint32_t msn = 0;     ///< of the message, if untagged
  /// The message from its first octet on, if it is untagged and known: all of it, or as much as a
  /// header may need. Ends at the first octet that is not in the capture.
  rnic::wire::Bytes content;
};

class DdpRules {
 public:
  explicit DdpRules(Findings findings) : findings_(findings) {}

  /// A ULPDU too short for its header.
  void header_short(const FpduSeen& fpdu);
  MessageStep take(const Incoming& incoming, bool version_zero_possible);
  /// What comes next in this direction is not known.
  void lose(Direction direction);
  /// The open message gets no further segment.
  void nothing_follows(Direction direction);
  void finish();

  [[nodiscard]] bool any_message() const {
    return directions_[0].messages + directions_[1].messages > 0;
  }
  /// The message that was sent last has not ended.
  [[nodiscard]] bool within_message(Direction direction) const {
    const Message& open = directions_[index_of(direction)].open;
    return open.active && open.known;
  }

 private:
  /// Room for the longest header message: a Terminate with an Atomic Request.
  static constexpr std::size_t content_kept = 80;
  static constexpr std::size_t gaps_kept = 8;
  static constexpr std::size_t queues = 4;

  struct Gap {
    std::uint64_t begin = 0, end = 0;
  };
  /// The faults of a message that have been reported: each is reported once.
  struct Reported {
    bool rsvdulp = false, stag = false, queue = false, msn = false, offset = false, order = false;
  };
  struct Message {
    bool active = false;
    bool tagged = false;
    bool known = false;
    bool ended = false;  ///< its L has arrived, but octets before that are missing
    rnic::wire::RdmapControl rdmap;
    std::uint32_t ulp_word = 0, queue = 0, msn = 0, stag = 0;
    std::uint64_t number = 0;
    std::uint64_t base = 0;  ///< lowest offset so far
    std::uint64_t next = 0;  ///< the offset after the highest octet so far
    std::uint64_t octets = 0;
    std::uint32_t segments = 0, last_length = 0;
    Reported reported;
    bool gaps_lost = false;  ///< more gaps than are kept: offsets are not judged
    std::uint8_t gap_count = 0;
    std::array<Gap, gaps_kept> gaps{};
    std::size_t content_length = 0;
    bool content_whole = true;
    std::array<std::byte, content_kept> content{};
    Place place;  ///< of the latest segment
    Certainty certainty = Certainty::certain;
  };
  struct QueueState {
    bool known = true, used = false;
    std::uint32_t next_msn = 1;
    /// The message that ended last, to detect an L that came too early.
    bool ended = false;
    std::uint32_t ended_msn = 0;
    std::uint64_t ended_at = 0;
    std::uint64_t ended_number = 0;
  };
  struct DirectionState {
    Message open, suspended;
    std::array<QueueState, queues> queue;
    std::uint64_t messages = 0;
    std::uint32_t longest_payload = 0;
    bool at_boundary = true;  ///< what comes next begins a message
    bool picked_up = false;
    std::uint8_t version = 0xFF;  ///< of the latest segment; 0xFF: none yet
  };

  DirectionState& state_of(Direction direction) { return directions_[index_of(direction)]; }
  void check_control(const Incoming& incoming, bool version_zero_possible);
  void check_version(const Incoming& incoming, bool version_zero_possible);
  [[nodiscard]] static bool is_next_whole_message(const DirectionState& own,
                                                  const Incoming& incoming);
  MessageStep take_whole_message(DirectionState& own, const Incoming& incoming);
  [[nodiscard]] static bool is_next_tagged_segment(const DirectionState& own,
                                                   const Incoming& incoming);
  MessageStep take_tagged_segment(DirectionState& own, const Incoming& incoming);
  [[nodiscard]] static bool continues(const DirectionState& state, const Message& message,
                                      const Incoming& incoming);
  Message& find_message(DirectionState& state, const Incoming& incoming);
  void begin(DirectionState& state, const Incoming& incoming);
  bool begin_untagged(DirectionState& state, Message& message, const Incoming& incoming);
  void settle_suspended(DirectionState& state);
  void report_missing_last(const Message& message);
  void check_sameness(Message& message, const Incoming& incoming);
  void account(Message& message, const Incoming& incoming);
  void judge_offsets(const Message& message, const Incoming& incoming) const;
  void fill(Message& message, const Incoming& incoming, std::uint64_t begin, std::uint64_t end);
  static bool first_was_shifted(Message& message, std::uint64_t begin, std::uint64_t end);
  void keep_content(Message& message, const Incoming& incoming);
  void close(DirectionState& state, Message& message);
  void report_gaps(const Message& message);

  Findings findings_;
  std::array<DirectionState, 2> directions_;
};

}  // namespace dissectors::analyzer
