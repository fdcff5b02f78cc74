// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Decision points of what DDP and RDMAP send: segments, messages, Terminates (RFC 5041 section 5,
// RFC 5040 sections 4 and 7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reference_rnic/stream/choice.hpp"
#include "reference_rnic/stream/fault.hpp"
#include "reference_rnic/wire/ddp.hpp"
#include "reference_rnic/wire/terminate.hpp"

namespace rnic::stream {

struct Context;
struct OutgoingMessage;

/// A segment of `message` that is about to be sent: `length` octets from octet `from`.
struct OutgoingSegment {
  const OutgoingMessage& message;
  std::uint64_t from = 0;
  std::size_t length = 0;
};

/// The part of the source of a Read Response that one segment carries.
struct SourceRange {
  std::uint64_t offset = 0;
  std::size_t length = 0;
};

/// An error, and what affects the reaction to it.
struct Failure {
  const Fault& fault;
  /// The segment in which it was found, if any.
  const IncomingSegment* segment = nullptr;
  /// Whether octets wait to be transmitted.
  bool output_pending = false;
};

/// What a stream does about an error, apart from ending.
struct Reaction {
  bool terminate = true;
  /// What arrives later is dropped.
  bool discard = true;
  bool operator==(const Reaction&) const = default;
};

struct SendingDecisions {
  // -- messages and segments --

  /// The next message to be cut into segments.
  virtual void message(OutgoingMessage&) {}
  /// The MSN of an untagged message (RFC 5041 section 4.3).
  virtual void sequence_number(const Context&, const OutgoingMessage&, std::uint32_t&) {}
  /// The EMSS that the lower layer reports (RFC 5044 section 4.5).
  virtual void emss(const Context&, std::size_t&) {}
  /// The longest ULPDU that may be sent (RFC 5044 section 4.5).
  virtual void mulpdu(const Context&, const Range<std::size_t>&, std::size_t&) {}
  /// The header of a tagged segment (RFC 5041 section 4.2, RFC 5040 section 4.1).
  virtual void tagged_header(const OutgoingSegment&, wire::TaggedHeader&) {}
  /// The header of an untagged segment (RFC 5041 section 4.3, RFC 5040 section 4.1).
  virtual void untagged_header(const OutgoingSegment&, wire::UntaggedHeader&) {}
  /// Which octets of its source a segment of a Read Response carries (RFC 5040 section 5.2).
  virtual void source(const OutgoingSegment&, SourceRange&) {}
  /// The payload of a segment.
  virtual void payload(const OutgoingSegment&, std::vector<wire::Bytes>&) {}

  // -- Terminates --

  /// How a Read is described whose source became inaccessible during the Response (RFC 5040 section
  /// 4.8).
  virtual void terminated_read(const OutgoingSegment&, wire::ReadRequestHeader&) {}
  /// Whether a Terminate may be sent at all.
  virtual void may_terminate(bool&) {}
  /// What follows an error (RFC 5040 sections 6.2.1 and 7.1).
  virtual void react(const Failure&, const Choice<Reaction>&, Reaction&) {}
  /// The layer, type and code of a Terminate (RFC 5040 section 4.8): if several describe the fault,
  /// each of them is lawful.
  virtual void cause_named(const Fault&, const Choice<wire::TerminateCause>&,
                           wire::TerminateCause&) {}
  /// Whether a Terminate for a remote operation error includes the Read Request that it is about
  /// (RFC 5040 section 7.1, case 3).
  virtual void read_request_included(const Fault&, const Choice<bool>&, bool& /*included*/) {}
  /// The contents of a Terminate (RFC 5040 section 4.8).
  virtual void terminate(const Fault&, wire::Terminate&) {}
  /// Whether waiting messages are sent before the Terminate (RFC 5040 section 7.1).
  virtual void waiting_messages_first(const Choice<bool>&, bool& /*first*/) {}
  /// What is still sent after an error: one Terminate.
  virtual void last_messages(std::vector<OutgoingMessage>&) {}

 protected:
  ~SendingDecisions() = default;
};

}  // namespace rnic::stream
