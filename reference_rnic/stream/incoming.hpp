// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A segment that is being received, seen with the stream that it came on.
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
  /// Untagged: octets that the buffer of its message holds, once there is one.
  std::size_t capacity = 0;

  /// What is wrong with the segment by `rule`: nothing if `good`.
  [[nodiscard]] std::optional<Fault> check(rules::RuleId rule, bool good,
                                           wire::TerminateCause cause, const char* detail,
                                           std::span<const wire::TerminateCause> also = {}) const {
    if (good && context.decisions.empty()) return std::nullopt;
    return ask(rule, good ? std::nullopt : std::optional(found(cause, detail, also)));
  }
  /// The same of a check that `permission` lets a receiver leave out.
  [[nodiscard]] std::optional<Fault> check_if_made(rules::RuleId permission, rules::RuleId rule,
                                                   bool good, wire::TerminateCause cause,
                                                   const char* detail) const {
    return check(rule, good || !is_made(permission), cause, detail);
  }
  /// The same of a rule that finds nothing wrong, whatever the segment holds.
  [[nodiscard]] std::optional<Fault> check(rules::RuleId rule) const {
    if (context.decisions.empty()) return std::nullopt;
    return ask(rule, std::nullopt);
  }

 private:
  [[nodiscard]] Fault found(wire::TerminateCause cause, const char* detail,
                            std::span<const wire::TerminateCause> also) const;
  [[nodiscard]] bool is_made(rules::RuleId permission) const;
  [[nodiscard]] std::optional<Fault> ask(rules::RuleId rule, std::optional<Fault> fault) const;
};

}  // namespace rnic::stream
