// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a stream sends, in which order, and how it ends.
#include "reference_rnic/stream/machine.hpp"

#include <array>
#include <utility>

#include "reference_rnic/stream/transitions.hpp"

namespace rnic::stream {

// ---- in ----

void Machine::received(std::size_t count, TimePoint now) {
  now_ = now;
  deframer_.received(count);
  if (in_startup()) read_startup_frame();
  keep_alive_while_closing();
  run_local_work();
}

Ending Machine::ending() const {
  return {context_.config.role, state_, llp_, in_startup() && !deframer_.startup_octets().empty()};
}

void Machine::llp_becomes(LlpState state) {
  if (llp_ != state) transition(llp_, state);
}

void Machine::peer_closed(TimePoint now) {
  now_ = now;
  if (peer_half_closed(llp_) || state_ == State::closed) return;
  PeerCloseReaction reaction;
  if (!in_startup() && deframer_.inside_fpdu())
    reaction.fault = Fault{wire::cause::mpa_connection_lost, "the peer closed within an FPDU",
                           std::nullopt, std::nullopt};
  // RFC 5044 section 7.1.2: without an FPDU from the Initiator nothing may be sent.
  reaction.ends_sending = state_ == State::awaiting_first_fpdu;
  context_.decisions.ask(&Decisions::peer_closes, ending(), reaction);
  if (!reaction.heeded) return;
  llp_becomes(our_half_closed(llp_) ? LlpState::closed : LlpState::peer_closed);
  if (in_startup()) {
    if (reaction.ends_startup) return fail_startup(StartupFault::peer_closed);
    return deadline_.reset();
  }
  if (reaction.fault) fail(*reaction.fault);
  if (state_ == State::terminating || state_ == State::closing) {
    send_queue_.end_responses();
    if (our_half_closed(llp_)) finish();
    return;
  }
  give_up_receive();
  if (!is_reported(set_up_)) {
    report_failed_set_up(StartupFault::peer_closed);
    return finish();
  }
  context_.events.push_back(PeerClosed{});
  send_queue_.end_responses();
  // RFC 5041 section 6.2.1: posted work is sent on the half that is still open.
  if (reaction.ends_sending) end_transfers(Leaves::begun_fpdu);
}

void Machine::lost(TimePoint now) {
  now_ = now;
  if (state_ == State::closed) return;
  WorkStatus unfinished = WorkStatus::flushed;  // RFC 5041 section 6.2.2
  context_.decisions.ask(&Decisions::llp_lost, unfinished);
  llp_becomes(LlpState::closed);
  transmitter_.drop_all();
  if (in_startup()) return fail_startup(StartupFault::lost);
  report_failed_set_up(StartupFault::lost);
  end_transfers(Leaves::begun_fpdu, unfinished);
  context_.events.push_back(Lost{});
  finish();
}

// ---- out ----

void Machine::gather(std::vector<wire::Bytes>& list, std::size_t limit,
                     std::vector<std::size_t>* boundaries) {
  while (transmitter_.pending() < limit && produce()) {
  }
  transmitter_.gather(list, limit, boundaries);
}

void Machine::transmitted(std::size_t count, TimePoint now) {
  now_ = now;
  for (const MessageTag& tag : transmitter_.transmitted(count)) message_sent(tag);
  run_local_work();
}

bool Machine::may_send_fpdus() const {
  // RFC 5044 section 7.1.2: not before both startup frames have been exchanged.
  bool permitted = state_ == State::sending_rtr || state_ == State::operational ||
                   (state_ == State::closing && !our_half_closed(llp_));
  context_.decisions.ask(&Decisions::may_send_fpdus, state_, permitted);
  return permitted;
}

/// Queues one FPDU. False: there is none to send.
bool Machine::produce() {
  if (!segmenter_.busy() && !begin_message()) return false;
  if (auto queued = segmenter_.step(); !queued) {
    segmenter_.abandon();
    // What is queued of the Response is sent: the Terminate counts from there.
    fail(queued.error(), Leaves::all_queued);
  }
  return true;
}

bool Machine::begin_message() {
  auto message = next_message();
  if (!message) {
    fail(message.error(), Leaves::all_queued);
    message = next_message();
  }
  if (!message || !*message) return false;
  segmenter_.begin(std::move(**message));
  return true;
}

std::expected<std::optional<OutgoingMessage>, Fault> Machine::next_message() {
  if (state_ == State::terminating) return next_last_message();
  if (!may_send_fpdus()) return std::nullopt;
  // Responses and posted work take turns, so that neither starves the other.
  turn_ = other(turn_);
  if (!read_queue_.waiting() && !send_queue_.waiting()) return std::nullopt;
  const Choice<bool> choice{"rdmap.order.read-response-after-later-messages",
                            turn_ == Source::responses, either};
  turn_ = context_.decisions.decide(choice, &Decisions::responses_first) ? Source::responses
                                                                         : Source::posted_work;
  return next_from(waits_at(turn_) ? turn_ : other(turn_));
}

/// The next message of one source, or else of the other.
std::expected<std::optional<OutgoingMessage>, Fault> Machine::next_from(Source source) {
  auto message = source == Source::responses ? read_queue_.next() : send_queue_.next();
  if (message && !*message && source == turn_ && waits_at(other(turn_)))
    message = next_from(other(turn_));
  return message;
}

void Machine::message_sent(const MessageTag& tag) {
  switch (tag.purpose) {
    case Purpose::startup_frame:
      return startup_frame_sent();
    case Purpose::work:
      send_queue_.sent(tag.number);
      if (state_ != State::sending_rtr) return;
      transition(state_, State::operational);
      return establish(std::exchange(reply_private_data_, {}));
    case Purpose::response:
      return read_queue_.sent();
    case Purpose::terminate:
      return;
  }
}

/// Local operations send nothing. So they do not wait for the first FPDU of the Initiator, which a
/// Responder must receive before it sends one (RFC 5044 section 7.1.2, rule 4).
void Machine::run_local_work() {
  if (in_startup() || segmenter_.busy()) return;
  if (const auto fault = send_queue_.run_local()) fail(*fault, Leaves::all_queued);
}

// ---- the consumer's side ----

void Machine::post(Work work, TimePoint now) {
  now_ = now;
  send_queue_.post(std::move(work));
  run_local_work();
}

void Machine::disconnect(TimePoint now) {
  now_ = now;
  if (state_ == State::closing || state_ == State::terminating || state_ == State::closed) return;
  if (in_startup()) {
    transmitter_.drop_all_but_begun_fpdu();
    return finish();
  }
  DisconnectReaction reaction;
  // RFC 5044 section 7.1.2: a Responder that has not received an FPDU may not send posted work.
  reaction.sends_posted_work =
      state_ != State::awaiting_first_fpdu &&
      context_.decisions.decide(Choice<bool>{"ddp.close.graceful-sends-pending-data", true, either},
                                &Decisions::sends_before_close);
  context_.decisions.ask(&Decisions::disconnects, ending(), reaction);
  if (reaction.fault) return fail(*reaction.fault);
  if (reaction.refuses_work) send_queue_.refuse();
  if (!reaction.sends_posted_work) end_transfers(Leaves::begun_fpdu);
  if (!reaction.still_receives) deframer_.discard();
  deadline_.reset();
  transition(state_, State::closing);
}

void Machine::abort(TimePoint now) {
  now_ = now;
  if (state_ == State::terminating || state_ == State::closed) return;
  if (!in_startup() && may_send_terminate())
    return fail({wire::cause::rdmap_local_catastrophic, "aborted by the consumer", std::nullopt,
                 std::nullopt});
  finish_by_reset();
}

void Machine::reset(TimePoint now) {
  now_ = now;
  finish_by_reset();
}

std::optional<Event> Machine::next_event() {
  if (context_.events.empty()) return std::nullopt;
  Event event = std::move(context_.events.front());
  context_.events.pop_front();
  return event;
}

// ---- the end ----

void Machine::report_failed_set_up(StartupFault fault) {
  if (is_reported(set_up_) || in_startup()) return;
  set_up_is_reported();
  context_.events.push_back(StartupFailed{fault});
}

void Machine::give_up_receive() {
  if (auto failed = untagged_.give_up()) context_.events.push_back(*failed);
}

/// No further message is begun, except a Terminate.
void Machine::end_transfers(Leaves leaves, WorkStatus unfinished) {
  if (leaves == Leaves::begun_message) transmitter_.drop_messages_not_begun();
  if (leaves == Leaves::begun_fpdu) transmitter_.drop_all_but_begun_fpdu();
  std::vector<std::uint64_t> kept;
  bool current_kept = false;
  for (const MessageTag& tag : transmitter_.messages()) {
    if (tag.purpose == Purpose::work && leaves != Leaves::begun_fpdu) kept.push_back(tag.number);
    current_kept = current_kept || (leaves != Leaves::begun_fpdu && segmenter_.current() == tag);
  }
  if (!current_kept) segmenter_.abandon();
  send_queue_.flush(kept, unfinished);
  read_queue_.clear();
}

bool Machine::drained() const {
  return transmitter_.pending() == 0 && !segmenter_.busy() && last_messages_.empty();
}

Closing Machine::closing() const {
  if (our_half_closed(llp_) || !drained()) return Closing::none;
  const Closing graceful =
      llp_ == LlpState::peer_closed ? Closing::full_close : Closing::half_close;
  switch (state_) {
    case State::terminating: {
      // RFC 5040 section 6.2.1: graceful, so that the Terminate arrives; immediately, or after the
      // peer's FIN. Without a Terminate the peer learns of the error by the teardown alone.
      const std::array permitted{graceful, Closing::reset, Closing::none};
      const std::size_t count = peer_half_closed(llp_) || !terminate_queued_ ? 2 : 3;
      return chosen(
          {"rdmap.terminate.graceful-llp-teardown", graceful, std::span(permitted).first(count)});
    }
    case State::closing:
      // RFC 5041 section 6.2.1: after all data is sent.
      if (!send_queue_.empty() || !read_queue_.empty()) return Closing::none;
      return chosen({"ddp.close.half-closed-close-graceful", graceful, {&graceful, 1}});
    case State::closed: {
      const Closing last = llp_ == LlpState::to_be_reset ? Closing::reset : Closing::full_close;
      return chosen({"rdmap.stream.connection-torn-down", last, {&last, 1}});
    }
    default:
      return Closing::none;
  }
}

Closing Machine::chosen(const Choice<Closing>& choice) const {
  return context_.decisions.decide(choice, &Decisions::closes, ending());
}

void Machine::close_done(TimePoint now) {
  now_ = now;
  const bool ended = peer_half_closed(llp_) || closing() == Closing::reset;
  llp_becomes(ended || state_ == State::closed ? LlpState::closed : LlpState::half_closed);
  if (state_ != State::terminating && state_ != State::closing) return;
  if (ended) return finish();
  deadline_ = now + context_.config.close_timeout;
}

/// A peer that still sends may do so: the time limit is for silence.
void Machine::keep_alive_while_closing() {
  if (state_ == State::closing && our_half_closed(llp_) && !deframer_.discarding())
    deadline_ = now_ + context_.config.close_timeout;
}

void Machine::wakeup(TimePoint now) {
  now_ = now;
  if (!deadline_ || now < *deadline_) return;
  switch (state_) {
    case State::terminating:
    case State::closing:
      // The peer does not close its half.
      return finish_by_reset();
    case State::sending_rtr:
      // The RTR waits for room in the LLP.
      report_failed_set_up(StartupFault::timeout);
      return finish_by_reset();
    case State::awaiting_first_fpdu:
      report_failed_set_up(StartupFault::timeout);
      return finish();
    default:
      if (in_startup()) return fail_startup(StartupFault::timeout);
      return finish_by_reset();
  }
}

void Machine::finish() {
  if (state_ == State::closed) return;
  give_up_receive();
  deadline_.reset();
  deframer_.discard();
  last_messages_.clear();
  segmenter_.abandon();
  send_queue_.flush({}, WorkStatus::flushed);
  transition(state_, State::closed);
  context_.events.push_back(Closed{});
}

void Machine::finish_by_reset() {
  llp_becomes(LlpState::to_be_reset);
  transmitter_.drop_all();
  finish();
}

}  // namespace rnic::stream
