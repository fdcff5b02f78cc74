// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One direction of a TCP connection as a capture shows it: segments in, octets in stream order out,
// each with the frame it came in.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "dissectors/analyzer/events.hpp"

namespace dissectors::analyzer {

/// The TCP segment that octets came in.
struct SegmentFacts {
  std::uint64_t begin = 0, end = 0;  ///< offsets in the stream of its payload, as on the wire
  std::uint32_t frame = 0;
  std::uint64_t time = 0;  ///< nanoseconds since 1970
  /// Octets of the other direction that its sender had received by then, from the SYN on: not always
  /// all that the capture has before this segment. Nothing where that is not known.
  std::optional<std::uint64_t> received = std::nullopt;
};

/// Octets that continue the stream where the last ones ended.
struct Chunk {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  ///< on the wire; `octets` has fewer where the capture cut the frame
  Bytes octets;
  SegmentFacts segment;
  bool stays = false;  ///< capture::Segment::payload_stays
};

/// Takes the output of a TcpReassembly. Views are valid during the call.
class StreamReceiver {
 public:
  virtual ~StreamReceiver() = default;
  virtual void octets(const Chunk& chunk) = 0;
  /// Octets that were sent but are not in the capture: acknowledged, or (`for_want_of_room`) still
  /// missing when the buffer was full. `by`: the segment that showed it.
  virtual void hole(std::uint64_t offset, std::uint64_t length, bool for_want_of_room,
                    const SegmentFacts& by) = 0;
  /// Octets that the receiver's window never reached: they are skipped.
  virtual void out_of_window(const SegmentFacts& what) = 0;
  /// A retransmission carried other octets than before in this range.
  virtual void differs(std::uint64_t offset, std::uint64_t length, const SegmentFacts& by) = 0;
  /// FIN once all octets before it were passed on; RST at once.
  virtual void ended(Ending ending, std::uint64_t offset, const SegmentFacts& by) = 0;
};

/// If several queues or taps are captured, an acknowledgement may come so much before its data;
/// nanoseconds.
inline constexpr std::uint64_t capture_disorder = 5'000'000;

/// In-order segments are passed on without a copy. Segments that come early wait, in at most
/// `limit` octets (bookkeeping included). Octets already passed on are compared with a
/// retransmission for the last segments, so other octets are noticed if a retransmission covers one of
/// these segments wholly.
class TcpReassembly {
 public:
  explicit TcpReassembly(std::size_t limit) : limit_(limit) {}

  /// `received`: see SegmentFacts.
  void add(const capture::Segment& segment, std::uint32_t frame, std::uint64_t time,
           StreamReceiver& receiver, std::optional<std::uint64_t> received = std::nullopt);
  /// All octets before this number, which is an acknowledgement, were passed on, and acknowledged() has
  /// nothing to say of them.
  [[nodiscard]] bool has_all_before(std::uint32_t number) const {
    return started_ && acknowledgements_.empty() && ahead(number) <= 0;
  }
  /// Nothing is missing of the stream so far, it has not ended, and this number is that of its next octet.
  [[nodiscard]] bool is_at(std::uint32_t number) const {
    return started_ && !fin_ && waiting_.empty() && acknowledgements_.empty() && ahead(number) == 0;
  }
  /// What add() does where is_at() the segment, which has ACK and no other flag.
  void take_next(const capture::Segment& segment, std::uint32_t frame, std::uint64_t time,
                 StreamReceiver& receiver, std::optional<std::uint64_t> received) {
    if (segment.payload_length == 0) return;
    // Member by member: a copy of facts written just now would wait for them.
    Chunk next;
    next.offset = next.segment.begin = next_;
    next.length = segment.payload_length;
    next.octets = segment.payload;
    next.segment.end = next_ + segment.payload_length;
    next.segment.frame = frame;
    next.segment.time = time;
    next.segment.received = received;
    next.stays = segment.payload_stays;
    deliver(next, receiver);
  }
  /// The other direction acknowledged all before this number: what is missing of it was lost by the
  /// capture only, unless it comes within `capture_disorder`. A time of 0 is not known, and nothing is
  /// waited for then.
  void acknowledged(std::uint32_t number, std::uint32_t frame, std::uint64_t time,
                    StreamReceiver& receiver);
  /// Octets before this number, which is an acknowledgement, have not come yet.
  [[nodiscard]] bool lacks(std::uint32_t number) const;
  /// The segment contains the octet after the last one that was passed to the receiver.
  [[nodiscard]] bool continued_by(const capture::Segment& segment) const;
  /// The octets from the SYN on that are acknowledged by this number; nothing if no SYN was seen.
  [[nodiscard]] std::optional<std::uint64_t> from_syn_to(std::uint32_t number) const {
    if (!from_syn_) return std::nullopt;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(offset_of(number), 0));
  }
  /// By this time, what was acknowledged and is still missing has been lost by the capture.
  void settle(std::uint64_t time, StreamReceiver& receiver) {
    if (!acknowledgements_.empty()) settle_acknowledged(time, receiver);
  }
  /// No octet that the receiver takes is further than this after the last octet passed on.
  void reach(std::uint64_t octets) { reach_ = octets; }
  /// Passes on what still waits for missing octets.
  void finish(StreamReceiver& receiver);

  [[nodiscard]] bool started() const { return started_; }
  /// The stream was seen from its SYN on.
  [[nodiscard]] bool from_syn() const { return from_syn_; }
  /// The sequence number of offset 0.
  [[nodiscard]] std::uint32_t origin() const { return origin_; }
  [[nodiscard]] std::uint64_t next() const { return next_; }
  /// Octets held, bookkeeping counted.
  [[nodiscard]] std::size_t memory() const { return held_; }

 private:
  struct Held {
    std::uint64_t end = 0;
    std::vector<std::byte> octets;  ///< captured of it
    SegmentFacts segment;
  };
  /// What was passed on: the octets, or their checksum if they are gone by now.
  struct Print {
    std::uint64_t begin = 0, end = 0;
    Bytes octets;
    std::array<std::byte, 4> checksum{};
  };
  using Waiting = std::map<std::uint64_t, Held>;
  /// Of octets that have not come yet.
  struct Acknowledgement {
    std::uint64_t until = 0;
    std::uint32_t frame = 0;
    std::uint64_t time = 0;
  };
  static constexpr std::size_t acknowledgements_kept = 64;
  /// No window is larger (RFC 7323 section 2.3): an acknowledgement further ahead is nonsense.
  static constexpr std::uint64_t largest_window = std::uint64_t{1} << 30;

  bool start(const capture::Segment& segment);
  /// By how much a number is after that of the next octet. Numbers wrap: the nearest is meant.
  [[nodiscard]] std::int32_t ahead(std::uint32_t number) const {
    return static_cast<std::int32_t>(number - static_cast<std::uint32_t>(origin_ + next_));
  }
  [[nodiscard]] std::int64_t offset_of(std::uint32_t number) const {
    return static_cast<std::int64_t>(next_) + ahead(number);
  }
  void place(Chunk chunk, StreamReceiver& receiver);
  void deliver(const Chunk& chunk, StreamReceiver& receiver);
  void hold(const Chunk& chunk, StreamReceiver& receiver);
  void store(const Chunk& chunk, std::uint64_t begin, std::uint64_t end);
  void drain(StreamReceiver& receiver);
  void give_up_until(std::uint64_t offset, bool for_want_of_room, const SegmentFacts& by,
                     StreamReceiver& receiver);
  void remember(const Chunk& chunk);
  void compare_with_prints(const Chunk& chunk, StreamReceiver& receiver) const;
  bool drop_out_of_window(StreamReceiver& receiver);
  void report_end(StreamReceiver& receiver);
  void settle_acknowledged(std::uint64_t time, StreamReceiver& receiver);
  void give_up_acknowledged(const Acknowledgement& it, StreamReceiver& receiver);

  std::size_t limit_;
  std::uint64_t reach_ = largest_window;
  bool started_ = false, from_syn_ = false, fin_reported_ = false;
  std::uint32_t origin_ = 0;
  std::optional<std::uint32_t> announced_;  ///< next number of a stream not started, by a bare ACK
  std::uint64_t next_ = 0;                  ///< offset after the last octet passed on
  std::optional<std::uint64_t> fin_;
  SegmentFacts fin_segment_;
  Waiting waiting_;
  /// In order; each goes further than the one before.
  std::vector<Acknowledgement> acknowledgements_;
  std::size_t held_ = 0;
  std::array<Print, 8> prints_{};
  std::size_t next_print_ = 0;
};

}  // namespace dissectors::analyzer
