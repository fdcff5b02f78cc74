// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The state of one connection above framing: what startup settled, DDP and RDMAP in both directions,
// and the rules that a trace can show broken.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "dissectors/analyzer/events.hpp"

namespace dissectors::analyzer {

/// Takes findings, notes and messages of one connection; the judge adds the connection.
class Reporter {
 public:
  virtual ~Reporter() = default;
  virtual void finding(const Finding&) = 0;
  virtual void note(const Note&) = 0;
  virtual void message(const MessageSeen&) = 0;
};

/// In which order the calls for the two directions come.
enum class Order : std::uint8_t {
  /// As a capture brought them: what one end sent may come before what it had received by then.
  of_the_capture,
  /// As one end of the connection sent and received: what it has not sent by then, the other end
  /// cannot have received before.
  as_it_happened,
};

/// What an end has not done that sends no more.
struct Undone {
  bool begun = false;         ///< messages were sent on the stream
  bool message = false;       ///< its last message has no last segment
  std::size_t responses = 0;  ///< Requests of the other end that wait for theirs
};

/// One per connection. Fed by the framing layer in the order in which each direction's octets stood in
/// the stream; between directions in order of frames. Bounded state: per queue and direction counters,
/// outstanding requests (at most 65536, beyond it a note), the headers of the latest 32 segments,
/// and at most 64 invalidated STags (the oldest forgotten, which can only hide a fault).
class MessageTracker {
 public:
  /// `judged` takes what is evaluated, and outlives the tracker.
  MessageTracker(Reporter& reporter, JudgedChecks& judged, Order order = Order::of_the_capture);
  MessageTracker(MessageTracker&&) noexcept;
  MessageTracker& operator=(MessageTracker&&) noexcept;
  ~MessageTracker();

  /// Request and Reply as they come; also where they are wrong. Tells what is settled by now.
  const Negotiated& startup(const MpaFrameSeen&);
  void fpdu(const FpduSeen&);
  /// One that is made wrong on purpose, so that the receiver must not take it: it may be blamed.
  void damaged(const FpduSeen&);
  /// Octets of this direction may hold a segment that was not seen whole: the other end may blame it.
  void unseen_segment(Direction direction);
  /// Octets of this direction were not seen: what depends on them is not judged until it is known
  /// again.
  void hole(Direction, const Place&);
  void ended(Direction, Ending, const Place&);
  /// The end that sends in this direction sends no more, though nothing has ended it.
  void nothing_follows(Direction);
  /// What the end that sends in this direction leaves undone if it closes now; nothing if a Terminate
  /// says why the stream ends, or may be in octets that were not seen.
  [[nodiscard]] std::optional<Undone> left_without_terminate(Direction) const;
  /// The end of the capture, or of the connection.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dissectors::analyzer
