// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Decision points of posted work, and of Requests of the peer that wait for their Responses (RFC
// 5040 section 5.5, RFC 7306 section 5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/fifo.hpp"
#include "reference_rnic/stream/choice.hpp"
#include "reference_rnic/stream/event.hpp"
#include "reference_rnic/stream/fault.hpp"
#include "reference_rnic/stream/work.hpp"
#include "rules/rule_id.hpp"

namespace rnic::stream {

struct Context;
struct InboundRequest;
struct OutgoingMessage;
struct PostedWork;

/// What decides whether posted work is held back by its fence.
struct FenceState {
  const PostedWork& work;
  /// Reads and Atomics issued and not answered.
  std::size_t responses_due = 0;
  /// The peer has closed its half: no Response can arrive any more.
  bool responses_ended = false;
};

/// What happens with a Request of the peer.
struct Admission {
  /// Why it cannot be served.
  std::optional<Fault> fault;
  /// How many Responses it gets.
  std::size_t responses = 1;
};

/// The operands of an Atomic (RFC 7306 section 5.1).
struct AtomicOperands {
  std::uint64_t original = 0;
  std::uint64_t data = 0, mask = 0;
  std::uint64_t compare = 0, compare_mask = 0;
};

/// What an Atomic stores and returns (RFC 7306 sections 5.1 and 5.2.2).
struct AtomicOutcome {
  std::uint64_t stored = 0;
  wire::AtomicResponseHeader response;
};

struct WorkDecisions {
  // -- work that the consumer posted --

  /// Which of the entries from `first` on is issued next (RFC 5040 section 5.5: the first).
  virtual void next_work(const base::Fifo<PostedWork>&, std::size_t /*first*/,
                         std::size_t& /*next*/) {}
  /// Why work cannot be issued, if it cannot: it ends with this status.
  virtual void refused(const PostedWork&, std::optional<WorkStatus>&) {}
  /// How many Reads and Atomics may be outstanding: the ORD (RFC 5040 section 6.1).
  virtual void outbound_limit(std::size_t&) {}
  /// Whether work waits for the Responses to earlier Reads and Atomics: if it is fenced; otherwise
  /// the sender decides (RFC 5040 section 5.5).
  virtual void fence(const FenceState&, const Choice<bool>&, bool& /*waits*/) {}
  /// Whether Responses are sent before posted work if both could be sent. By default they take
  /// turns.
  virtual void responses_first(const Choice<bool>&, bool& /*first*/) {}
  /// The message of posted work.
  virtual void work_message(const PostedWork&, OutgoingMessage&) {}
  /// RFC 5040 section 4.4.
  virtual void read_request(const PostedWork&, wire::ReadRequestHeader&) {}
  /// RFC 7306 section 5.2.1.
  virtual void atomic_request(const PostedWork&, wire::AtomicRequestHeader&) {}
  /// Whether work whose message has been sent waits for a Response (RFC 5040 section 5.5).
  virtual void awaits_response(const PostedWork&, bool& /*waits*/) {}
  /// A Response is complete; this many are still due.
  virtual void answered(std::size_t& /*responses_due*/) {}
  /// Which of the entries is reported and removed next: the first if it is done (RFC 5040 section
  /// 5.5), otherwise none, which is their count.
  virtual void next_completion(const base::Fifo<PostedWork>&, std::size_t& /*next*/) {}
  /// What is reported to the consumer about completed work.
  virtual void completion(const PostedWork&, std::optional<WorkDone>&) {}

  // -- Requests of the peer --

  /// How many Requests may wait: the IRD (RFC 5040 section 6.1, RFC 7306 section 5.2).
  virtual void inbound_limit(wire::Opcode, std::size_t&) {}
  /// Whether a Read Request is served.
  virtual void read_admitted(const Context&, const Offender&, wire::ReadRequestHeader&,
                             Admission&) {}
  /// The result of the check of this rule on an Atomic Request (RFC 7306 section 8).
  virtual void atomic_checked(rules::RuleId, const wire::AtomicRequestHeader&, const Offender&,
                              std::optional<Fault>&) {}
  /// Whether an Atomic Request is served.
  virtual void atomic_admitted(const Context&, const wire::AtomicRequestHeader&, Admission&) {}
  /// Which of the waiting Requests is answered next (RFC 5040 section 5.5: the first, now or
  /// later). Those before `rfc` have been answered; the count of all stands for none of them.
  virtual void next_response(const base::Fifo<InboundRequest>&, const Choice<std::size_t>&,
                             std::size_t& /*next*/) {}
  /// The operands of an Atomic on `memory`.
  virtual void atomic_operands(const wire::AtomicRequestHeader&, wire::Bytes /*memory*/,
                               AtomicOperands&) {}
  /// What it leaves in `memory` and answers.
  virtual void atomic_outcome(const wire::AtomicRequestHeader&, wire::Bytes /*memory*/,
                              AtomicOutcome&) {}

 protected:
  ~WorkDecisions() = default;
};

}  // namespace rnic::stream
