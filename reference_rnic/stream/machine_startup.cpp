// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How a stream gets into full operation (RFC 5044 section 7.1, RFC 6581).
#include <utility>

#include "reference_rnic/stream/machine.hpp"
#include "reference_rnic/stream/transitions.hpp"

namespace rnic::stream {
namespace {

State first_state(Role role) {
  return role == Role::initiator ? State::sending_request : State::awaiting_request;
}

}  // namespace

Stream::Machine::Machine(Config config, Memory& memory, TimePoint now, StreamDecisions decisions)
    : context_{std::move(config), memory, std::move(decisions), {}, {}},
      state_(first_state(context_.config.role)),
      deframer_(context_, *this),
      transmitter_(context_),
      segmenter_(context_, transmitter_),
      send_queue_(context_),
      read_queue_(context_),
      untagged_(context_, send_queue_, read_queue_),
      tagged_(context_, send_queue_),
      now_(now) {
  context_.config.ird = stated_depth(context_.config.ird);
  context_.config.ord = stated_depth(context_.config.ord);
  const bool endless =
      context_.deviates(Deviation::startup_never_times_out) ||
      (state_ == State::awaiting_request && context_.deviates(Deviation::empty_connection_kept));
  if (!endless) deadline_ = now + context_.config.startup_timeout;
  if (state_ == State::sending_request)
    transmitter_.queue_startup_frame(
        format(make_request(context_.config, context_.decisions), context_.decisions));
}

bool Stream::Machine::in_startup() const {
  switch (state_) {
    case State::awaiting_request:
    case State::awaiting_decision:
    case State::sending_reply:
    case State::sending_request:
    case State::awaiting_reply:
      return true;
    default:
      return false;
  }
}

void Stream::Machine::read_startup_frame() {
  const bool initiator = context_.config.role == Role::initiator;
  if (state_ == State::awaiting_request && !deadline_ &&
      context_.deviates(Deviation::empty_connection_kept))
    deadline_ = now_ + context_.config.startup_timeout;
  if (state_ == State::awaiting_decision || state_ == State::sending_reply) {
    // Nothing may follow a Request before its Reply, so PD_Length was wrong
    // (mpa.private-data.length-mismatch-closes).
    if (octets_behind_request()) fail_startup(StartupFault::invalid_frame);
    return;
  }
  const auto kind = initiator ? wire::MpaFrameKind::reply : wire::MpaFrameKind::request;
  const auto parsed = parse_startup(kind, deframer_.startup_octets(), context_.decisions);
  if (!parsed) {
    if (initiator && context_.deviates(Deviation::established_twice_over_pieces))
      frame_in_pieces_ = true;
    if (parsed.error() != wire::MpaFrameError::incomplete ||
        context_.deviates(Deviation::startup_frame_in_pieces_refused))
      fail_startup(StartupFault::invalid_frame);
    return;
  }
  // A Reply to a Request that has not left yet answers nothing.
  if (state_ == State::sending_request) return fail_startup(StartupFault::invalid_frame);
  if (initiator)
    take_reply(*parsed);
  else
    take_request(*parsed);
}

bool Stream::Machine::octets_behind_request() const {
  return !deframer_.startup_octets().empty() &&
         !context_.deviates(Deviation::octets_behind_request_ignored);
}

void Stream::Machine::take_request(const wire::ParsedMpaFrame& parsed) {
  if (!interoperable(parsed.frame, context_.config, context_.decisions))
    return fail_startup(StartupFault::invalid_frame);
  request_ = make_connect_request(parsed.frame, context_.decisions);
  deframer_.consume_startup(parsed.consumed);
  transition(state_, State::awaiting_decision);
  deadline_.reset();  // the consumer may take its time
  if (octets_behind_request()) return fail_startup(StartupFault::invalid_frame);
  if (context_.deviates(Deviation::zero_depth_request_unanswered) && request_->enhanced &&
      (request_->enhanced->ird == 0 || request_->enhanced->ord == 0))
    return;
  context_.events.emplace_back(*request_);
}

void Stream::Machine::accept(std::uint16_t ird, std::uint16_t ord, wire::Bytes private_data,
                             TimePoint now) {
  now_ = now;
  if (state_ != State::awaiting_decision) return;  // the peer was faster in going away
  Acceptance acceptance = accept_request(*request_, context_.config, stated_depth(ird),
                                         stated_depth(ord), private_data, context_.decisions);
  context_.negotiated = acceptance.negotiated;
  transmitter_.queue_startup_frame(format(acceptance.reply, context_.decisions));
  transition(state_, State::sending_reply);
}

void Stream::Machine::reject(wire::Bytes private_data, TimePoint now) {
  now_ = now;
  if (state_ != State::awaiting_decision) return;
  transmitter_.queue_startup_frame(
      format(reject_request(*request_, context_.config, private_data, context_.decisions),
             context_.decisions));
  rejected_ = true;
  transition(state_, State::sending_reply);
}

void Stream::Machine::startup_frame_sent() {
  if (state_ == State::sending_request) {
    transition(state_, State::awaiting_reply);
    if (context_.deviates(Deviation::fpdu_before_reply)) send_rtr(RtrKind::write);
    if (context_.deviates(Deviation::request_sent_twice))
      transmitter_.queue_startup_frame(
          format(make_request(context_.config, context_.decisions), context_.decisions));
    return;
  }
  if (state_ != State::sending_reply) return;
  const bool wrong_code = context_.deviates(Deviation::reject_terminate_wrong_code);
  const bool says_more =
      rejected_ && (wrong_code || context_.deviates(Deviation::terminate_after_reject));
  if (rejected_ && context_.deviates(Deviation::resets_after_reject)) return finish_by_reset();
  if (rejected_ && !says_more) return finish();
  transition(state_, State::awaiting_first_fpdu);
  deframer_.enter_full_operation();
  if (!context_.decisions.conforming())
    if (says_more) {
      fpdu_validated_ = true;
      return fail({wrong_code ? wire::cause::mpa_no_rtr : wire::cause::mpa_insufficient_ird,
                   "rejected", std::nullopt, std::nullopt});
    }
  if (context_.negotiated.peer_to_peer) {
    // The RTR belongs to startup, so it has startup's time limit.
    if (!context_.deviates(Deviation::startup_never_times_out))
      deadline_ = now_ + context_.config.startup_timeout;
  } else {
    establish({});
  }
  if (context_.deviates(Deviation::responder_sends_first)) {
    fpdu_validated_ = true;
    first_fpdu_validated();
  }
  if (context_.deviates(Deviation::octets_behind_request_ignored)) deframer_.resume();
}

void Stream::Machine::take_reply(const wire::ParsedMpaFrame& parsed) {
  ReplyVerdict verdict = judge_reply(parsed.frame, context_.config, context_.decisions);
  deframer_.consume_startup(parsed.consumed);
  switch (verdict.kind) {
    case ReplyVerdict::Kind::invalid:
      return fail_startup(StartupFault::invalid_frame);
    case ReplyVerdict::Kind::rejected:
      context_.events.push_back(Rejected{verdict.enhanced, std::move(verdict.private_data)});
      return finish();
    case ReplyVerdict::Kind::insufficient_ird:
    case ReplyVerdict::Kind::no_matching_rtr:
      return fail_set_up(verdict);
    case ReplyVerdict::Kind::accepted:
      return enter_operation_after_reply(std::move(verdict));
  }
}

void Stream::Machine::enter_operation_after_reply(ReplyVerdict verdict) {
  context_.negotiated = verdict.negotiated;
  if (verdict.rtr && context_.deviates(Deviation::initiator_adjusts_after_rtr))
    late_ird_ = std::exchange(context_.negotiated.ird, std::uint16_t{1});
  fpdu_validated_ = true;
  deframer_.enter_full_operation();
  if (verdict.rtr && !context_.deviates(Deviation::rtr_not_sent) &&
      !context_.deviates(Deviation::rtr_left_to_the_ulp)) {
    reply_private_data_ = std::move(verdict.private_data);
    transition(state_, State::sending_rtr);
    send_rtr(*verdict.rtr);
  } else {
    transition(state_, State::operational);
    establish(std::move(verdict.private_data));
  }
  deframer_.resume();
}

/// The connection can carry FPDUs, yet not serve its purpose: a Terminate says why (RFC 6581
/// sections 9.1 and 9.2).
void Stream::Machine::fail_set_up(const ReplyVerdict& verdict) {
  const bool ird = verdict.kind == ReplyVerdict::Kind::insufficient_ird;
  context_.negotiated = verdict.negotiated;
  fpdu_validated_ = true;
  established_ = true;  // as far as the consumer goes: it is told here that it will not be
  context_.events.push_back(
      StartupFailed{ird ? StartupFault::insufficient_ird : StartupFault::no_matching_rtr});
  fail({ird ? wire::cause::mpa_insufficient_ird : wire::cause::mpa_no_rtr,
        ird ? "the Responder's ORD needs a greater IRD than there is"
            : "no RTR indication that both sides know",
        std::nullopt, std::nullopt});
}

void Stream::Machine::fail_startup(StartupFault fault) {
  context_.events.push_back(StartupFailed{fault});
  if (fault == StartupFault::invalid_frame && state_ == State::awaiting_reply &&
      context_.deviates(Deviation::bad_reply_answered_by_terminate)) {
    fpdu_validated_ = true;
    deframer_.enter_full_operation();
    return fail({wire::cause::mpa_invalid_frame, "malformed Reply", std::nullopt, std::nullopt});
  }
  if (fault == StartupFault::invalid_frame && state_ == State::awaiting_request &&
      context_.deviates(Deviation::bad_request_answered_by_reject)) {
    const StartupFrame reply{wire::MpaFrameKind::reply, {wire::MpaFlags::r}, 1, std::nullopt, {}};
    transmitter_.queue_startup_frame(format(reply, context_.decisions));
  } else {
    transmitter_.drop_all_but_begun_fpdu();
  }
  finish();
}

void Stream::Machine::send_rtr(RtrKind kind) {
  OutgoingMessage message;
  WorkKind work = WorkKind::send;
  if (kind == RtrKind::write) {
    work = WorkKind::write;
    message.opcode = wire::Opcode::rdma_write;
  } else if (kind == RtrKind::read) {
    work = WorkKind::read;
    message.opcode = wire::Opcode::read_request;
    message.header.resize(sizeof(wire::ReadRequestHeader));
  }
  if (kind != RtrKind::read && context_.deviates(Deviation::rtr_not_zero_length))
    message.header.resize(1);
  message.length = message.header.size();
  send_queue_.post_rtr(message, work);
  segmenter_.begin(std::move(message));
}

void Stream::Machine::establish(std::vector<std::byte> private_data) {
  established_ = true;
  deadline_.reset();
  if (context_.deviates(Deviation::startup_timer_left_running))
    deadline_ = now_ + context_.config.startup_timeout;
  if (frame_in_pieces_ && context_.deviates(Deviation::established_twice_over_pieces))
    context_.events.push_back(Established{context_.negotiated, private_data});
  context_.events.push_back(Established{context_.negotiated, std::move(private_data)});
}

bool Stream::Machine::awaits_rtr() const {
  return state_ == State::awaiting_first_fpdu && context_.negotiated.peer_to_peer;
}

/// One of the three indications of RFC 6581 section 9.2, of a kind that we said we take.
bool Stream::Machine::is_rtr(const IncomingSegment& incoming) const {
  const RtrKinds& kinds = context_.config.rtr;
  const bool whole = incoming.segment.ddp().last();
  if (context_.deviates(Deviation::rtr_refused)) return false;
  switch (incoming.segment.rdmap().opcode()) {
    case wire::Opcode::send:
      return kinds.send && whole && incoming.payload_length == 0;
    case wire::Opcode::rdma_write:
      if (incoming.segment.tagged_header.stag.value() == 0 &&
          context_.deviates(Deviation::rtr_with_stag_zero_refused))
        return false;
      return kinds.write && whole && incoming.payload_length == 0;
    case wire::Opcode::read_request:
      if (context_.negotiated.peer_ord == 0 &&
          context_.deviates(Deviation::read_rtr_without_room_refused))
        return false;
      return kinds.read;  // its size is looked at when it is delivered
    default:
      return false;
  }
}

}  // namespace rnic::stream
