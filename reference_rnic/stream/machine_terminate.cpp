// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How a stream fails, and whether and when its Terminate is sent (RFC 5040 sections 5.4 and 7.2).
// terminate_builder.cpp makes the contents of the Terminate.
#include <span>
#include <utility>

#include "reference_rnic/stream/machine.hpp"
#include "reference_rnic/stream/terminate_builder.hpp"
#include "reference_rnic/stream/transitions.hpp"

namespace rnic::stream {

void Machine::fail(const Fault& fault, Leaves leaves) {
  // Only the first error is reported (rdmap.error.first-error-captured).
  if (state_ == State::closed || state_ == State::terminating) return;
  const Reaction reaction = reaction_to(fault);
  context_.events.push_back(Failed{fault.cause, reaction.terminate, fault.detail});
  report_failed_set_up(fault.cause == wire::cause::mpa_no_rtr ? StartupFault::no_matching_rtr
                                                              : StartupFault::invalid_frame);
  // ddp.terminate.later-segments-dropped
  if (reaction.discard) deframer_.discard();
  give_up_receive();
  terminate_queued_ = reaction.terminate;
  if (terminate_queued_) queue_terminate(fault);
  transition(state_, State::terminating);
  end_transfers(waiting_messages_first() ? Leaves::all_queued : leaves);
  if (our_half_closed(llp_)) {
    // Our half is already closed: only a reset can show it to the peer.
    return finish_by_reset();
  }
  deadline_ = now_ + context_.config.close_timeout;
}

/// A Terminate needs full MPA operation and an open half (RFC 5044 section 7.1.2, RFC 5040 section
/// 6.2.1).
bool Machine::may_send_terminate() const {
  bool may = exchanges_fpdus(set_up_) && !our_half_closed(llp_);
  context_.decisions.ask(&Decisions::may_terminate, may);
  return may;
}

/// RFC 5040 section 7.1 demands the Terminate that section 6.2.1 recommends (docs/disputes.md).
Reaction Machine::reaction_to(const Fault& fault) const {
  static constexpr Reaction permitted[] = {{.terminate = true}, {.terminate = false}};
  const Reaction reaction{.terminate = may_send_terminate()};
  const Choice<Reaction> choice{"rdmap.terminate.sent-on-rdmap-error", reaction,
                                std::span(permitted).subspan(reaction.terminate ? 0 : 1)};
  const Failure failure{fault, segment_ ? &*segment_ : nullptr, transmitter_.pending() != 0};
  return context_.decisions.decide(choice, &Decisions::react, failure);
}

/// The Terminate should be the next message (RFC 5040 section 7.1).
bool Machine::waiting_messages_first() const {
  return context_.decisions.decide(
      Choice<bool>{"rdmap.error.terminate-sent-promptly", false, either},
      &Decisions::waiting_messages_first);
}

/// The messages that are still sent after an error: one Terminate (RFC 5040 section 5.4).
void Machine::queue_terminate(const Fault& fault) {
  OutgoingMessage message;
  message.opcode = wire::Opcode::terminate;
  message.header = build_terminate(fault, context_.decisions);
  message.length = message.header.size();
  message.tag.purpose = Purpose::terminate;
  last_messages_.push_back(std::move(message));
  context_.decisions.ask(&Decisions::last_messages, last_messages_);
}

std::optional<OutgoingMessage> Machine::next_last_message() {
  if (last_messages_.empty()) return std::nullopt;
  OutgoingMessage message = std::move(last_messages_.front());
  last_messages_.erase(last_messages_.begin());
  return message;
}

}  // namespace rnic::stream
