// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The decision points of an RNIC: where it asks how to continue. stream/decisions.hpp explains
// them.
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "reference_rnic/stream/decisions.hpp"
#include "reference_rnic/verbs/tag.hpp"

namespace rnic::verbs {

/// Decision points of STags (RFC 5041 sections 5.1 and 7.1, RFC 5040 section 5.3, RFC 5042 section
/// 6.1.1).
struct TagDecisions {
  /// The STag of a new tag, given those in use: index in the high 24 bits, key in the low 8. It is
  /// asked for again if the index is 0 or in use.
  virtual void stag_chosen(const TagMap& /*in_use*/, std::uint32_t& /*stag*/) {}
  /// Whether memory is registered for these accesses: not without the process's own right to it.
  virtual void registration_checked(wire::Bytes /*memory*/, const Access&, bool& /*granted*/) {}
  /// A tag that becomes valid: who may use it for what. `shared`: several streams use its domain.
  virtual void tag_opened(bool /*shared*/, Tag& /*tag*/) {}
  /// The tag that an STag names, or null.
  virtual void tag_sought(TagMap& /*tags*/, std::uint32_t /*stag*/, Tag*& /*found*/) {}
  /// Whether a use passes one of its checks.
  virtual void use_checked(TagCheck, const Tag&, const TagUse&, bool& /*passes*/) {}
  /// The octets that a use may access, or why it may access none: no tag (null) or the bounds; for a
  /// window, what it opens.
  virtual void octets_reached(const Tag*, const TagUse&,
                              std::expected<wire::MutableBytes, stream::MemoryFault>& /*octets*/) {}
  /// Whether what the consumer revokes or destroys is gone at once; a region is held by its windows,
  /// a queue by its queue pairs.
  enum class Revocation : std::uint8_t {
    window_unbound,
    invalidated_locally,
    deregistered,
    completion_queue_destroyed,
    shared_queue_destroyed
  };
  virtual void revoked(Revocation, bool& /*gone*/) {}
};

/// A send request that is being posted.
struct Posting {
  QueuePairHandle queue_pair{};
  QueuePairState state = QueuePairState::idle;
  const SendRequest& request;
};

/// An event in the processing of work that its consumer might be notified of.
struct WorkEvent {
  enum class Moment : std::uint8_t {
    receive_taken,  ///< the stream has the buffer
    own_work_done,  ///< work of the stream itself, such as the RTR indication
    done,
  };
  Moment moment = Moment::done;
  QueuePairHandle queue_pair{};
  /// The id that the consumer gave the request; for the stream's own work: the stream's number.
  std::uint64_t id = 0;
  Status status = Status::success;
  /// Octets of the request's pieces.
  std::uint64_t room = 0;
  /// Send: it gives a completion even if it succeeds.
  bool signaled = true;
  /// Send: the request itself says so, not only its queue pair.
  bool signaled_by_request = true;
  Operation operation = Operation::receive;
  /// Receive: the stream had its buffer.
  bool taken = false;
};

/// What a completion queue is armed for, and what was asked for last.
struct Arming {
  Arm in_force = Arm::next, asked_last = Arm::next;
};

/// What a completion does to an armed queue.
struct Wakeup {
  bool called = false;  ///< the handler; the queue is disarmed then
  bool stays_armed = false;
};

/// What a queue pair learns about its stream.
enum class StreamChange : std::uint8_t { terminate_received, fault_found, llp_lost, closed };

/// Decision points of work, completions and asynchronous events (RFC 5040 section 5.5, RFC 5042
/// section 6.4).
struct QueueDecisions {
  /// What becomes of requests posted together, of which the one at `index` is refused: which one is
  /// reported to the consumer, and whether those after it are posted.
  virtual void chain_refused(std::size_t& /*index*/, bool& /*goes_on*/) {}
  /// Whether the octets of inline data are taken when the request is posted.
  virtual void inline_taken(const SendRequest&, bool& /*taken*/) {}
  /// What the consumer learns of its queue pair.
  virtual void pair_queried(QueuePairInfo& /*info*/) {}
  /// Why a send request is refused, after each check of it; nothing: it passes.
  virtual void post_checked(const Posting&, std::optional<Error>& /*refused*/) {}
  /// How many receives a queue of this depth holds.
  virtual void receives_held(std::uint32_t& /*depth*/) {}
  /// Whether a request completes as soon as it is issued. Without a connection nothing is issued.
  virtual void work_issued(bool /*connected*/, const SendRequest&, bool& /*completes*/) {}
  /// The work that the stream is given for a request.
  virtual void work_made(const SendRequest&, stream::Work&) {}
  /// The original value that an Atomic's sink receives.
  virtual void atomic_answered(std::uint64_t& /*original*/) {}
  /// The buffer that the next message fills, and whether it leaves the receive queue with that.
  virtual void receive_taken(stream::ReceiveBuffer&, bool& /*leaves*/) {}
  /// The completions that the consumer gets: one or none.
  virtual void work_reported(const WorkEvent&, std::vector<Completion>& /*completions*/) {}
  /// The event that the consumer gets, if any.
  virtual void event_raised(QueuePairHandle, StreamChange, std::optional<AsyncEvent>& /*event*/) {}
  /// Whether a shared queue gives out the receive that was posted last, instead of first, and whether
  /// the consumer learns it if fewer wait then than its limit.
  virtual void shared_receive_taken(bool& /*last*/, bool& /*limit_reported*/) {}
  /// The limit of a shared queue that is armed: the one asked for now, in place of the `former` one; 0:
  /// none.
  virtual void limit_armed(SharedQueueHandle, std::uint32_t /*former*/, std::uint32_t& /*limit*/) {}
  /// Whether the handler of an armed queue is called for a completion, and what the queue is then.
  virtual void handler_due(CompletionQueueHandle, const Arming&, const Completion&,
                           Wakeup& /*wakeup*/) {}
  /// An asynchronous event of any kind, as the consumer gets it, if it does.
  virtual void event_given(std::optional<AsyncEvent>& /*event*/) {}
  /// Whether a queue pair is made, given what is right.
  virtual void pair_asked(const QueuePairAttributes&, bool& /*made*/) {}
  /// Whether a queue pair, with its stream, ends: when its consumer aborts it, and when a completion
  /// queue overflows that it uses.
  enum class PairEnd : std::uint8_t { aborted, overflowed };
  virtual void pair_ending(PairEnd, bool& /*ends*/) {}
};

struct Decisions : TagDecisions, QueueDecisions {
  Decisions() = default;
  Decisions(const Decisions&) = delete;
  Decisions& operator=(const Decisions&) = delete;
  virtual ~Decisions() = default;
};

/// The members that decide for one RNIC and for each of its streams. Default: it conforms.
class RnicDecisions : public stream::DecisionChain<Decisions> {
 public:
  /// Makes the chain of a new stream; empty: it conforms.
  std::function<stream::StreamDecisions()> of_stream;
  [[nodiscard]] stream::StreamDecisions for_stream() const {
    return of_stream ? of_stream() : stream::StreamDecisions{};
  }
  /// Adds the members of others, for the RNIC and for each stream, after its own.
  void append(RnicDecisions others) {
    DecisionChain::append(std::move(others));
    if (!others.of_stream) return;
    of_stream = [first = std::move(of_stream), then = std::move(others.of_stream)] {
      stream::StreamDecisions decisions = first ? first() : stream::StreamDecisions{};
      decisions.append(then());
      return decisions;
    };
  }
};

}  // namespace rnic::verbs
