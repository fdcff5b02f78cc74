// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One state that the IUT may be in, after all inputs and observations: plain values.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "suite/model/memory.hpp"
#include "suite/model/startup.hpp"

namespace suite::model {

/// What startup has negotiated for a stream.
struct StreamTerms {
  iut::Handle endpoint = 0, domain = 0;
  /// Of its receives, if it shares them with other streams.
  iut::Handle shared_queue = 0;
  Depths depths;
  /// The RTR indication of the peer, which has used an MSN and is not its consumer's business.
  std::optional<wire::Opcode> rtr{};
  /// CRCs are in use: either side asked for them (RFC 5044 section 7.1).
  bool crc = true;
  /// A Responder sends nothing before the first FPDU has arrived (RFC 5044 section 7.1.2).
  bool responder = true;
};

/// A receive of the consumer.
struct Receive {
  iut::WorkId work = 0;
  std::vector<iut::Piece> pieces;
  /// A message is complete in it; its completion is due.
  bool filled = false;
  std::uint32_t length = 0;
  std::optional<std::uint32_t> invalidated;
  bool solicited = false;
  /// Of Immediate Data, which do not go to its memory (RFC 7306 section 6.1).
  std::optional<iut::ImmediateData> immediate{};

  [[nodiscard]] std::uint64_t capacity() const;
  bool operator==(const Receive& other) const {
    return work == other.work && filled == other.filled && length == other.length &&
           invalidated == other.invalidated && solicited == other.solicited &&
           immediate == other.immediate;
  }
};

/// Work of the consumer's send queue, in the order of posting.
struct Work {
  iut::PostWork command;
  /// The source of a Send or Write when it was posted.
  Contents payload;
  /// The source was written while the work was in progress (docs/disputes.md D52).
  bool indeterminate = false;
  /// Seen on the wire, or executed if it needs nothing on the wire.
  bool sent = false;
  /// Only its report is outstanding.
  bool done = false;
  /// Of a Read: octets that have arrived, and the sink as its Request named it.
  std::uint64_t received = 0;
  std::uint32_t sink_stag = 0;
  std::uint64_t sink_offset = 0;
  /// Of a bind, if the API chooses another key for it.
  std::optional<std::uint32_t> new_stag{};
  /// Of an Atomic: the identifier in its Request.
  std::uint32_t request_id = 0;

  [[nodiscard]] bool is(const char* operation) const { return command.operation == operation; }
  [[nodiscard]] bool is_read() const { return is(iut::operation::read); }
  [[nodiscard]] bool is_atomic() const {
    return is(iut::operation::fetch_add) || is(iut::operation::compare_swap);
  }
  [[nodiscard]] bool is_immediate() const {
    return is(iut::operation::immediate) || is(iut::operation::immediate_solicited);
  }
  /// It waits for a Response.
  [[nodiscard]] bool asks() const { return is_read() || is_atomic(); }
  [[nodiscard]] bool is_local() const {
    return is(iut::operation::local_invalidate) || is(iut::operation::bind_window);
  }
  [[nodiscard]] std::uint64_t length() const;
  bool operator==(const Work& other) const {
    return command.work == other.command.work && payload == other.payload &&
           indeterminate == other.indeterminate && sent == other.sent && done == other.done &&
           received == other.received;
  }
};

/// What an Atomic Response says, and the region that the Atomic was carried out on.
struct AtomicAnswer {
  iut::Handle region = 0;
  std::uint32_t request_id = 0;
  std::uint64_t original = 0;
  bool operator==(const AtomicAnswer&) const = default;
};

/// A Read Response or Atomic Response that the IUT owes.
struct Response {
  std::uint32_t sink_stag = 0;
  std::uint64_t sink_offset = 0;
  Contents contents;
  bool indeterminate = false;
  std::optional<AtomicAnswer> atomic{};
  /// None for a Read of no octets.
  std::optional<Source> source{};
  bool operator==(const Response&) const = default;
};

/// The untagged message in progress on one queue.
struct Incoming {
  bool open = false;
  wire::Opcode opcode = wire::Opcode::send;
  std::uint32_t ulp_word = 0;
  /// Where its next segment begins, if there is no gap.
  std::uint64_t end = 0;
  /// Of messages that RDMAP itself processes (RFC 5040 sections 5.2 and 5.4).
  Octets octets;
  bool operator==(const Incoming&) const = default;
};

enum class Phase : std::uint8_t {
  running,
  /// The IUT has found an error, reports it and ends the stream (RFC 5040 section 7.1).
  refusing,
  /// A segment was dropped, or is held, without being acknowledged (docs/disputes.md D8, D9).
  holding,
  /// A Terminate arrived (RFC 5040 section 5.4).
  terminated,
  /// Its consumer ended it abruptly, or the connection was reset.
  broken,
  /// The input has more readings than the model follows: nothing more is demanded of this stream.
  open_ended,
};

/// What the tester sends on one connection.
struct SentSegment {
  Octets ulpdu;
  bool crc_wrong = false;
  /// A Marker of its FPDU does not point to the FPDU's beginning; the CRC covers it as it is.
  bool marker_wrong = false;
  /// Rules about what is odd or wrong in its FPDU.
  std::vector<RuleId> concerned{};
};
/// The first octets of an FPDU: nothing may follow from them.
struct SentPart {
  Octets ulpdu;
};
struct SentFin {};
struct SentReset {};
using Sent = std::variant<SentSegment, SentPart, SentFin, SentReset>;

struct Stream {
  StreamTerms terms;
  Phase phase = Phase::running;
  /// Refusing: the error that it has found.
  Fault fault;
  /// Holding: what has arrived and is not processed yet.
  std::vector<Sent> held;
  /// It may send (RFC 5044 section 7.1.2).
  bool may_send = false;
  /// Regions in which octets of an FPDU may be whose rest is outstanding.
  std::vector<iut::Handle> unfinished;
  /// There is such an FPDU.
  bool part_waits = false;

  static constexpr std::size_t queues = 4;
  std::array<Incoming, queues> incoming;
  std::array<std::uint32_t, queues> next_msn{1, 1, 1, 1};
  // Short lists, copied with the state more often than anything leaves them.
  std::vector<Receive> receives;
  std::vector<Work> work;
  std::vector<Response> responses;

  /// The tester has closed its half; the IUT's consumer has asked to close.
  bool peer_closed = false, closing = false;
  /// It closes by a reset, and does not look at what arrives before that.
  bool gives_up = false;
  // What was seen of the end.
  bool terminate_seen = false, iut_closed = false, iut_reset = false;
  bool disconnected = false, error_reported = false;
  /// Its endpoint is destroyed: it shares nothing with other streams any more.
  bool gone = false;
  /// Rules by which the last input must be accepted.
  std::vector<RuleId> taken_by;
  /// SHOULDs about the last input that this state takes the IUT not to follow.
  std::vector<RuleId> passed_over;

  [[nodiscard]] bool is_over() const { return iut_reset || (iut_closed && peer_closed); }
  /// It continues: what is due must come.
  [[nodiscard]] bool goes_on() const {
    return phase == Phase::running && !peer_closed && !closing && !iut_closed && !iut_reset;
  }
  [[nodiscard]] Receive* free_receive();
  /// The Read or Atomic of the IUT that the next Response is for.
  [[nodiscard]] Work* open_read();
  [[nodiscard]] std::size_t open_reads() const;
  /// An Atomic Response is due from the peer.
  [[nodiscard]] bool awaits_atomic() const;
  /// Those of the kind of `one`: Atomics may be counted apart from Reads (RFC 7306 section 5.2).
  [[nodiscard]] std::size_t open_like(const Work& one) const;
  bool operator==(const Stream& other) const;
};

/// Receives for the messages of several streams (RFC 5042 section 6.4.3.1). A stream has those that
/// its messages have taken.
struct SharedQueue {
  iut::Handle handle = 0;
  std::vector<Receive> waiting;
  /// An event is due once fewer wait; 0: none is.
  std::uint32_t limit = 0;
  bool is_low = false;
  bool operator==(const SharedQueue&) const = default;
};

struct State {
  Memory memory;
  std::vector<Stream> streams;
  std::vector<SharedQueue> shared_queues;

  /// The queue that the stream shares, or nullptr.
  [[nodiscard]] const SharedQueue* shared_of(const Stream& stream) const;
  /// A receive is there for the stream's next message.
  [[nodiscard]] bool has_receive(const Stream& stream) const {
    const SharedQueue* shared = shared_of(stream);
    return !stream.receives.empty() || (shared != nullptr && !shared->waiting.empty());
  }

  /// Places octets in the memory that `pieces` name, `offset` octets into them.
  void place(const std::vector<iut::Piece>& pieces, std::uint64_t offset, base::Bytes octets);
  void place(Region& region, std::uint64_t offset, base::Bytes octets);
  /// The same, of a stream's Write or of the consumer: what that makes undetermined is noted.
  void write(Region& region, std::uint64_t offset, base::Bytes octets, std::size_t by);
  /// A stream has placed octets in these.
  void note_placement(const std::vector<iut::Piece>& pieces, std::size_t stream);
  /// Something, or nothing, may have been placed in these.
  void doubt(const std::vector<iut::Piece>& pieces);
  /// Something other than a Response is placed there: in the sink of a Read or Atomic that is not complete
  /// either may be last (RFC 5040 section 5.5 rules 3 and 6).
  void written_beside_responses(Region& region) const;
  /// Something is placed there: an Atomic that is not answered may still have to be carried out (RFC 7306
  /// section 5.4).
  void written_before_atomics(Region& region) const;
  /// What is being sent from there is not determined (RFC 5040 section 5.5).
  void written_while_in_use(const Region& region);
  /// Nothing more is demanded of the stream: what is due may never come.
  void end_openly(std::size_t stream);
  /// The Atomics that it has not answered may have been carried out or not.
  void doubt_atomics_of(std::size_t stream);
  /// Octets of an FPDU that is not complete may be in it, or come later.
  [[nodiscard]] bool is_unfinished(const Region& region) const;
  /// It has been written to, and so may be what is there of such an FPDU.
  void doubt_unfinished(Region& region) const;
  /// Its octets are determined.
  [[nodiscard]] bool is_known(const Region& region) const;
  /// The result of an Atomic, which Atomics that follow it see (RFC 7306 section 5.4).
  void store(Region& region, std::uint64_t offset, base::Bytes octets);
  [[nodiscard]] Octets gather(const std::vector<iut::Piece>& pieces) const;
  /// Equal for equal states, and different for most others.
  [[nodiscard]] std::size_t digest() const;
  /// Memory comes last: most of what differs differs before.
  bool operator==(const State& other) const {
    return streams == other.streams && shared_queues == other.shared_queues &&
           memory == other.memory;
  }
};
using States = std::vector<State>;

}  // namespace suite::model
