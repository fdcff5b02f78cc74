// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A segment that is being received, together with the stream on which it arrived.
#pragma once

#include <optional>

#include "reference_rnic/stream/context.hpp"
#include "reference_rnic/stream/fault.hpp"
#include "reference_rnic/stream/send_queue.hpp"

namespace rnic::stream {

struct Incoming : IncomingSegment {
  Incoming(const IncomingSegment& arrived, Context& stream_context, const SendQueue& send_queue,
           const State& stream_state)
      : IncomingSegment(arrived), context(stream_context), work(send_queue), state(stream_state) {}

  Context& context;
  const SendQueue& work;
  const State& state;
  /// It is the RTR indication (RFC 6581 section 9.2).
  bool rtr = false;
  /// Untagged: the octets that the buffer of its message holds, once there is one.
  std::size_t capacity = 0;

  /// The fault of the segment by `rule`: none if `good`.
  [[nodiscard]] std::optional<Fault> check(rules::RuleId rule, bool good,
                                           wire::TerminateCause cause, const char* detail,
                                           std::span<const wire::TerminateCause> also = {}) const {
    if (good && context.decisions.empty()) return std::nullopt;
    return judge(rule, good, cause, detail, also);
  }
  /// The same for a check that `permission` lets a receiver leave out.
  [[nodiscard]] std::optional<Fault> check_if_made(rules::RuleId permission, rules::RuleId rule,
                                                   bool good, wire::TerminateCause cause,
                                                   const char* detail) const {
    return check(rule, good || !is_made(permission), cause, detail);
  }
  /// The same for a rule that finds no fault, whatever the segment contains.
  [[nodiscard]] std::optional<Fault> check(rules::RuleId rule) const {
    if (context.decisions.empty()) return std::nullopt;
    return judge(rule, true, {}, "", {});
  }

 private:
  /// The part of check() that is not needed for a good segment of a conforming stream.
  [[nodiscard]] std::optional<Fault> judge(rules::RuleId rule, bool good,
                                           wire::TerminateCause cause, const char* detail,
                                           std::span<const wire::TerminateCause> also) const;
  [[nodiscard]] Fault found(wire::TerminateCause cause, const char* detail,
                            std::span<const wire::TerminateCause> also) const;
  [[nodiscard]] std::optional<wire::ReadRequestHeader> read_request() const;
  [[nodiscard]] bool is_made(rules::RuleId permission) const;
};

}  // namespace rnic::stream
