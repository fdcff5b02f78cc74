// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How a stream fails, and whether and when its Terminate is sent (RFC 5040 sections 5.4 and 7.2).
// What stands in the Terminate is terminate_builder.cpp's to say.
#include <utility>

#include "reference_rnic/stream/machine.hpp"
#include "reference_rnic/stream/terminate_builder.hpp"
#include "reference_rnic/stream/transitions.hpp"

namespace rnic::stream {

void Stream::Machine::fail(const Fault& fault, Leaves leaves) {
  if (state_ == State::terminating && !last_messages_.empty() &&
      context_.deviates(Deviation::later_error_reported)) {
    last_messages_.clear();
    return queue_terminate(fault);
  }
  if (state_ == State::terminating || state_ == State::closed) return;
  bool terminate = may_send_terminate();
  if (!context_.decisions.conforming())
    if (keeps_quiet(fault)) terminate = false;
  context_.events.push_back(Failed{fault.cause, terminate, fault.detail});
  report_failed_set_up(fault.cause == wire::cause::mpa_no_rtr ? StartupFault::no_matching_rtr
                                                              : StartupFault::invalid_frame);
  if (!context_.deviates(Deviation::goes_on_after_error) &&
      !context_.deviates(Deviation::erroneous_stream_goes_on) &&
      !context_.deviates(Deviation::later_error_reported))
    deframer_.discard();
  give_up_receive();
  if (terminate) queue_terminate(fault);
  transition(state_, State::terminating);
  end_transfers(leaves);
  if (close_done_) {
    // Our half is closed already: nothing but a reset can tell the peer.
    return finish_by_reset();
  }
  deadline_ = now_ + context_.config.close_timeout;
}

bool Stream::Machine::may_send_terminate() const {
  return fpdu_validated_ && !close_done_ && !context_.deviates(Deviation::terminate_not_sent);
}

/// Errors of which the peer is not told.
bool Stream::Machine::keeps_quiet(const Fault& fault) const {
  if (fault.cause.layer == wire::layer::mpa)
    return context_.deviates(Deviation::llp_error_without_terminate);
  if (!segment_) return false;
  if (transmitter_.pending() != 0 && context_.deviates(Deviation::busy_stream_without_terminate))
    return true;
  if (fault.cause.layer == wire::layer::ddp && context_.deviates(Deviation::closes_on_ddp_error))
    return true;
  return context_.deviates(segment_->segment.rdmap().opcode() == wire::Opcode::read_request
                               ? Deviation::read_error_without_terminate
                               : Deviation::data_error_without_terminate);
}

/// The messages that still leave after an error: one Terminate.
void Stream::Machine::queue_terminate(const Fault& fault) {
  OutgoingMessage message;
  message.opcode = wire::Opcode::terminate;
  message.header = build_terminate(fault, context_.decisions);
  message.length = message.header.size();
  message.tag.purpose = Purpose::terminate;
  last_messages_.push_back(message);
  if (context_.deviates(Deviation::terminate_sent_twice)) last_messages_.push_back(message);
  if (context_.deviates(Deviation::sends_after_terminate)) {
    message.opcode = wire::Opcode::send;
    last_messages_.push_back(message);
  }
}

std::optional<OutgoingMessage> Stream::Machine::next_last_message() {
  if (last_messages_.empty()) return std::nullopt;
  OutgoingMessage message = std::move(last_messages_.front());
  last_messages_.pop_front();
  if (!context_.decisions.conforming()) message.tag.number = last_messages_.size();
  return message;
}

}  // namespace rnic::stream
