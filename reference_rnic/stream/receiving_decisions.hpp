// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Decision points of what DDP and RDMAP receive (RFC 5041 sections 5 and 7, RFC 5040 sections 5
// and 7, RFC 7306).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "reference_rnic/stream/choice.hpp"
#include "reference_rnic/stream/delivered_message.hpp"
#include "reference_rnic/stream/event.hpp"
#include "reference_rnic/stream/fault.hpp"
#include "rules/rule_id.hpp"

namespace rnic::stream {

struct Incoming;

/// Whether the current segment completes its message, and the length of the message.
struct Completion {
  bool complete = false;
  std::size_t length = 0;
};

struct ReceivingDecisions {
  /// Whether a segment or message is acceptable by `rule`: every check of headers, buffers and
  /// lengths (RFC 5041 section 7.1, RFC 5040 section 7.2). `found`: its fault.
  virtual void checked(rules::RuleId /*rule*/, const Incoming& /*incoming*/,
                       std::optional<Fault>& /*found*/) {}
  /// Whether a check is made that a receiver may leave out.
  virtual void checks(const Incoming& /*incoming*/, const Choice<bool>&, bool& /*made*/) {}
  /// Whether the operations of RFC 7306 are supported.
  virtual void has_extensions(const Choice<bool>&, bool& /*supported*/) {}
  /// Whether a segment without a receive buffer stays with the LLP until there is one, instead of
  /// being an error (RFC 5041 section 7.1).
  virtual void held_without_buffer(const Choice<bool>&, bool& /*held*/) {}
  /// Whether the message that begins uses a receive buffer of the consumer (RFC 5040 section 5.3,
  /// RFC 7306 section 6.3).
  virtual void needs_receive(const Incoming& /*incoming*/, bool& /*needed*/) {}
  /// The TO or MO at which the payload is placed (RFC 5041 section 5.1).
  virtual void place(const Incoming& /*incoming*/, std::uint64_t& /*offset*/) {}
  /// Whether the payload of an untagged segment that a check has refused is placed (RFC 5041
  /// section 7.1). Asked at the only moment when the payload is still to come and its places are
  /// known.
  virtual void place_refused(const Incoming& /*incoming*/, bool& /*placed*/) {}
  /// Whether the segment, which has been placed, completes its message (RFC 5041 section 5.4).
  virtual void completes(const Incoming& /*incoming*/, Completion& /*completion*/) {}
  /// The untagged message that is delivered to RDMAP; none: it is dropped.
  virtual void delivered(const Incoming& /*incoming*/,
                         std::optional<DeliveredMessage>& /*message*/) {}
  /// The STag that a Send invalidates (RFC 5040 section 5.3).
  virtual void invalidates(const Incoming& /*incoming*/, std::optional<std::uint32_t>& /*stag*/) {}
  /// What is reported to the consumer about a Send or Immediate Data.
  virtual void reports(const Incoming& /*incoming*/, std::optional<MessageReceived>& /*event*/) {}
  /// Whether a faulty message is dropped and the stream continues with the next one (RFC 5040
  /// section 7.1: the stream ends). SendingDecisions::react has no answer that leaves the stream as
  /// it is.
  virtual void passed_over(const Incoming& /*incoming*/, const Fault& /*fault*/,
                           bool& /*passed_over*/) {}

 protected:
  ~ReceivingDecisions() = default;
};

}  // namespace rnic::stream
