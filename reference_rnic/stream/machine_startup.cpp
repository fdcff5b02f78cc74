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

Machine::Machine(Config config, Memory& memory, TimePoint now, StreamDecisions decisions,
                 std::shared_ptr<Scratch> scratch)
    : scratch_(std::move(scratch)),
      context_{std::move(config), memory, *scratch_, std::move(decisions), {}, {}},
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
  limit_startup(now + context_.config.startup_timeout);
  if (state_ == State::sending_request)
    transmitter_.queue_startup_frame(
        format(make_request(context_.config, context_.decisions), context_.decisions));
}

bool Machine::in_startup() const {
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

/// Startup frames and the RTR have a time limit (mpa.startup.frames-time-out; RFC 5044 section
/// 7.1.2).
void Machine::limit_startup(std::optional<TimePoint> deadline) {
  deadline_ = deadline;
  const StartupWait wait{state_, now_, context_.config.startup_timeout,
                         !deframer_.startup_octets().empty()};
  context_.decisions.ask(&Decisions::startup_deadline, wait, deadline_);
}

void Machine::read_startup_frame() {
  const bool initiator = context_.config.role == Role::initiator;
  if (state_ == State::awaiting_decision || state_ == State::sending_reply) {
    // Nothing may follow a Request before its Reply, so PD_Length was wrong
    // (mpa.private-data.length-mismatch-closes).
    if (request_overrun()) fail_startup(StartupFault::invalid_frame);
    return;
  }
  const auto kind = initiator ? wire::MpaFrameKind::reply : wire::MpaFrameKind::request;
  const auto parsed = parse_startup(kind, deframer_.startup_octets(), context_.decisions);
  if (!parsed) {
    if (parsed.error() == wire::MpaFrameError::incomplete) return limit_startup(deadline_);
    return fail_startup(StartupFault::invalid_frame);
  }
  // A Reply to a Request that has not been sent yet answers nothing.
  if (state_ == State::sending_request) return fail_startup(StartupFault::invalid_frame);
  if (initiator)
    take_reply(*parsed);
  else
    take_request(*parsed);
}

/// Whether octets have arrived after the Request that should not be there.
bool Machine::request_overrun() const {
  const wire::Bytes octets = deframer_.startup_octets();
  bool acceptable = octets.empty();
  context_.decisions.ask(&Decisions::octets_after_request, octets, acceptable);
  return !acceptable;
}

void Machine::take_request(const wire::ParsedMpaFrame& parsed) {
  if (!interoperable(parsed.frame, context_.config, context_.decisions))
    return fail_startup(StartupFault::invalid_frame);
  request_ = make_connect_request(parsed.frame, context_.decisions);
  deframer_.consume_startup(parsed.consumed);
  transition(state_, State::awaiting_decision);
  deadline_.reset();  // the consumer has no time limit
  if (request_overrun()) return fail_startup(StartupFault::invalid_frame);
  context_.report_startup(*request_);
}

void Machine::accept(std::uint16_t ird, std::uint16_t ord, wire::Bytes private_data,
                     TimePoint now) {
  now_ = now;
  if (state_ != State::awaiting_decision) return;  // the peer has gone in the meantime
  Acceptance acceptance = accept_request(*request_, context_.config, stated_depth(ird),
                                         stated_depth(ord), private_data, context_.decisions);
  context_.negotiated = acceptance.negotiated;
  transmitter_.queue_startup_frame(format(acceptance.reply, context_.decisions));
  transition(state_, State::sending_reply);
}

void Machine::reject(wire::Bytes private_data, TimePoint now) {
  now_ = now;
  if (state_ != State::awaiting_decision) return;
  transmitter_.queue_startup_frame(
      format(reject_request(*request_, context_.config, private_data, context_.decisions),
             context_.decisions));
  request_.reset();
  transition(state_, State::sending_reply);
}

void Machine::startup_frame_sent() {
  // Nothing follows a Request before the Reply (mpa.startup.no-fpdu-before-both-frames; RFC 5044
  // section 7.1.2).
  if (state_ == State::sending_request) return transition(state_, State::awaiting_reply);
  if (state_ != State::sending_reply) return;
  if (!request_) return end_startup(std::nullopt);
  reply_sent();
}

void Machine::reply_sent() {
  transition(state_, State::awaiting_first_fpdu);
  deframer_.enter_full_operation();
  if (context_.negotiated.peer_to_peer) {
    // The RTR belongs to startup, so the time limit of startup applies (RFC 6581 section 9.2).
    limit_startup(now_ + context_.config.startup_timeout);
  } else {
    establish({});
  }
  // mpa.startup.responder-silent-before-first-fpdu (RFC 5044 section 7.1.2, rule 4)
  bool awaited = true;
  context_.decisions.ask(&Decisions::first_fpdu_awaited, awaited);
  if (!awaited) {
    fpdus_are_exchanged();
    first_fpdu_validated();
  }
  deframer_.resume();
}

void Machine::take_reply(const wire::ParsedMpaFrame& parsed) {
  ReplyVerdict verdict = judge_reply(parsed.frame, context_.config, context_.decisions);
  deframer_.consume_startup(parsed.consumed);
  switch (verdict.kind) {
    case ReplyVerdict::Kind::invalid:
      return fail_startup(StartupFault::invalid_frame);
    case ReplyVerdict::Kind::rejected:
      context_.report_startup(Rejected{verdict.enhanced, std::move(verdict.private_data)});
      return finish();
    case ReplyVerdict::Kind::insufficient_ird:
    case ReplyVerdict::Kind::no_matching_rtr:
      return fail_set_up(verdict);
    case ReplyVerdict::Kind::accepted:
      return enter_operation_after_reply(std::move(verdict));
  }
}

void Machine::enter_operation_after_reply(ReplyVerdict verdict) {
  context_.negotiated = verdict.negotiated;
  fpdus_are_exchanged();
  deframer_.enter_full_operation();
  if (verdict.rtr) {
    reply_private_data_ = std::move(verdict.private_data);
    transition(state_, State::sending_rtr);
    send_rtr(*verdict.rtr);
  } else {
    transition(state_, State::operational);
    establish(std::move(verdict.private_data));
  }
  deframer_.resume();
}

/// The connection can carry FPDUs, but cannot serve its purpose: a Terminate reports why (RFC 6581
/// sections 9.1 and 9.2).
void Machine::fail_set_up(const ReplyVerdict& verdict) {
  const bool ird = verdict.kind == ReplyVerdict::Kind::insufficient_ird;
  context_.negotiated = verdict.negotiated;
  fpdus_are_exchanged();
  set_up_is_reported();
  context_.report_startup(
      StartupFailed{ird ? StartupFault::insufficient_ird : StartupFault::no_matching_rtr});
  fail({ird ? wire::cause::mpa_insufficient_ird : wire::cause::mpa_no_rtr,
        ird ? "the Responder's ORD needs a greater IRD than is available"
            : "no RTR indication that both sides support",
        std::nullopt, std::nullopt});
}

void Machine::fail_startup(StartupFault fault) {
  context_.report_startup(StartupFailed{fault});
  end_startup(fault);
}

/// A close without anything else (RFC 5044 section 7.1.2). No fault: the rejecting Reply has been
/// sent.
void Machine::end_startup(std::optional<StartupFault> fault) {
  StartupEnd end;
  context_.decisions.ask(&Decisions::startup_ends, StartupEnding{state_, fault}, end);
  if (end.terminate) {
    if (state_ == State::sending_reply) transition(state_, State::awaiting_first_fpdu);
    fpdus_are_exchanged();
    return fail(*end.terminate);
  }
  if (end.reset) return finish_by_reset();
  if (end.reply)
    transmitter_.queue_startup_frame(format(*end.reply, context_.decisions));
  else
    transmitter_.drop_all_but_begun_fpdu();
  finish();
}

/// A zero-length Send, RDMA Write or RDMA Read (RFC 6581 section 9.2).
void Machine::send_rtr(RtrKind kind) {
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
  context_.decisions.ask(&Decisions::rtr_leaves, kind, message);
  message.length = message.header.size();
  send_queue_.post_rtr(message, work);
  segmenter_.begin(std::move(message));
}

void Machine::establish(std::vector<std::byte> private_data) {
  set_up_is_reported();
  limit_startup(std::nullopt);
  send_queue_.release();
  transmitter_.release();
  context_.report_startup(Established{context_.negotiated, std::move(private_data)});
}

void Machine::fpdus_are_exchanged() {
  if (exchanges_fpdus(set_up_)) return;
  transition(set_up_, is_reported(set_up_) ? SetUp::complete : SetUp::exchanging_fpdus);
}

void Machine::set_up_is_reported() {
  if (is_reported(set_up_)) return;
  transition(set_up_, exchanges_fpdus(set_up_) ? SetUp::complete : SetUp::reported);
}

bool Machine::awaits_rtr() const {
  return state_ == State::awaiting_first_fpdu && context_.negotiated.peer_to_peer;
}

/// One of the three indications of RFC 6581 section 9.2, of a kind that our Reply states.
bool Machine::is_rtr(const IncomingSegment& incoming) const {
  const RtrKinds& stated = context_.negotiated.rtr;
  const bool empty = incoming.segment.ddp().last() && incoming.payload_length == 0;
  bool taken = false;
  switch (incoming.segment.rdmap().opcode()) {
    case wire::Opcode::send:
      taken = stated.send && empty;
      break;
    case wire::Opcode::rdma_write:
      taken = stated.write && empty;
      break;
    case wire::Opcode::read_request:
      taken = stated.read;  // its size is checked when it is delivered
      break;
    default:
      break;
  }
  context_.decisions.ask(&Decisions::rtr_taken, incoming, context_.negotiated, taken);
  return taken;
}

}  // namespace rnic::stream
