// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5044 section 8: what MPA does with an FPDU, and how the ends of the connection arrive.
#include "suite/model/arriving.hpp"

#include "suite/model/atomics.hpp"
#include "suite/model/commands.hpp"

namespace suite::model {

namespace {

/// The fault, with the rules about what is wrong in this FPDU.
Fault fault_of(const Fault& kind, const SentSegment& sent) {
  Fault fault = kind;
  fault.rules.insert(fault.rules.begin(), sent.concerned.begin(), sent.concerned.end());
  return fault;
}

/// An IUT whose consumer has closed may reset the connection, against a SHOULD of RFC 5041
/// section 6.2.1.
void give_up(const Taking& taking) {
  State state = taking.before;
  Stream& stream = state.streams[taking.stream];
  stream.phase = Phase::broken;
  stream.gives_up = true;
  state.doubt_atomics_of(taking.stream);
  taking.after.push_back(std::move(state));
}

void take_segment(const Taking& taking, const SentSegment& sent) {
  const Stream& stream = taking.before.streams[taking.stream];
  // RFC 5044 section 7.1: with CRCs off the field has no meaning.
  if (sent.crc_wrong && stream.terms.crc)
    return refuse(taking, taking.before, fault_of(fault::bad_crc, sent), sent);
  if (sent.marker_wrong) refuse(taking, taking.before, fault_of(fault::bad_marker, sent), sent);
  State opened = taking.before;
  Stream& receiver = opened.streams[taking.stream];
  receiver.may_send = true;
  receiver.unfinished.clear();
  receiver.part_waits = false;
  std::vector<RuleId>& rules = sent.marker_wrong ? receiver.passed_over : receiver.taken_by;
  rules.insert(rules.end(), sent.concerned.begin(), sent.concerned.end());
  const Taking now{opened, taking.stream, taking.coverage, taking.after};
  const auto segment = wire::parse_segment(sent.ulpdu);
  if (!segment) return refuse(now, opened, fault::truncated, sent);
  if (segment->tagged) return arrive_tagged(now, *segment);
  arrive_untagged(now, *segment);
}

/// RFC 5044 section 6: an FPDU goes to DDP when all of it is there.
void take_part(const Taking& taking, const SentPart& part) {
  State state = taking.before;
  Stream& stream = state.streams[taking.stream];
  stream.part_waits = true;
  stream.taken_by.push_back("mpa.receive.entire-fpdu-before-ddp");
  if (!stream.may_send) stream.taken_by.push_back("mpa.startup.responder-silent-before-first-fpdu");
  if (const auto segment = wire::parse_segment(part.ulpdu)) {
    const wire::Opcode opcode = segment->rdmap().opcode();
    if (opcode == wire::Opcode::read_request)
      stream.taken_by.insert(stream.taken_by.end(), {"rdmap.order.read-request-not-early",
                                                     "rdmap.order.zero-length-read-not-early"});
    else if (opcode == wire::Opcode::atomic_request)
      stream.taken_by.push_back("rdmap.atomic.request-not-early");
    else if (opcode == wire::Opcode::read_response)
      stream.taken_by.push_back("rdmap.order.read-responses-delivered-after-ddp");
    else
      stream.taken_by.push_back("ddp.delivery.last-after-placement");
  }
  taking.coverage.took(Transition::part_waits);
  taking.after.push_back(state);
  if (const auto segment = wire::parse_segment(part.ulpdu); segment && !stream.terms.crc)
    place_early({state, taking.stream, taking.coverage, taking.after}, *segment);
}

bool begins_a_send(const Sent& sent) {
  const auto* whole = std::get_if<SentSegment>(&sent);
  if (whole == nullptr) return false;
  const auto segment = wire::parse_segment(whole->ulpdu);
  if (!segment || segment->tagged) return false;
  const wire::UntaggedHeader& header = segment->untagged_header;
  return header.queue_number.value() == static_cast<std::uint32_t>(wire::Queue::send) &&
         header.message_offset.value() == 0;
}

/// What arrives may be placed, or not; a message may take a receive of a shared queue.
void take_open_ended(const Taking& taking, const Sent& sent) {
  State state = taking.before;
  const Stream& stream = state.streams[taking.stream];
  for (Region& region : state.memory.regions) {
    if (region.domain != stream.terms.domain) continue;
    region.indeterminate = true;
    state.written_while_in_use(region);
  }
  taking.after.push_back(state);
  if (state.shared_of(stream) == nullptr || !begins_a_send(sent)) return;
  for (State& each : with_shared_receive(state, taking.stream)) {
    each.streams[taking.stream].receives = stream.receives;
    taking.after.push_back(std::move(each));
  }
}

/// Work that has waited for Responses may be done once these can come no more.
void end_stream(const Taking& taking, State state) {
  State late = state;
  if (run_late_local_work(late, taking.stream)) taking.after.push_back(std::move(late));
  taking.after.push_back(std::move(state));
}

/// RFC 5041 section 6.2: a half-close.
void take_fin(const Taking& taking) {
  State state = taking.before;
  state.streams[taking.stream].peer_closed = true;
  taking.coverage.took(Transition::peer_closed);
  end_stream(taking, std::move(state));
}

void take_reset(const Taking& taking) {
  State state = taking.before;
  Stream& stream = state.streams[taking.stream];
  if (stream.phase != Phase::open_ended) stream.phase = Phase::broken;
  stream.peer_closed = stream.iut_reset = true;
  state.doubt_atomics_of(taking.stream);
  taking.coverage.took(Transition::peer_reset);
  end_stream(taking, std::move(state));
}

}  // namespace

void note_use(const Taking& taking, State& state, const Grant& grant) {
  grant.region->users |= 1U << taking.stream;
  if (grant.window == nullptr) return;
  taking.coverage.took(Transition::window_used);
  std::vector<RuleId>& rules = state.streams[taking.stream].taken_by;
  rules.insert(rules.end(), {"ddp.security.stream-association-supported",
                             "ddp.security.stag-validity-mechanism"});
}

void refuse_closed_sources(const State& state, Coverage& coverage, States& after) {
  for (std::size_t i = 0; i < state.streams.size(); ++i) {
    const Stream& stream = state.streams[i];
    if (stream.phase != Phase::running || stream.is_over()) continue;
    for (const Response& response : stream.responses) {
      if (!response.source) continue;
      const auto& [stag, offset, length, use] = *response.source;
      State refusing = state;
      Faults faults;
      refusing.memory.check(stag, offset, length, use, {i, stream.terms.domain}, faults);
      if (!faults.any()) continue;
      if (use == Use::atomic) faults.add(fault::atomic_protection);
      coverage.took(Transition::closed_source_refused);
      refuse({state, i, coverage, after}, std::move(refusing), faults.all(), SentSegment{});
      break;
    }
  }
}

void refuse(const Taking& taking, State state, const Fault& fault, const Sent& sent) {
  Stream& stream = state.streams[taking.stream];
  stream.fault = fault;
  stream.phase = Phase::refusing;
  state.doubt_atomics_of(taking.stream);
  taking.coverage.took(Transition::refused);
  taking.after.push_back(state);
  if (!fault.may_be_dropped) return;
  stream.phase = Phase::holding;
  stream.held.push_back(sent);
  taking.coverage.took(Transition::dropped);
  taking.after.push_back(std::move(state));
}

void arrive(const State& before, std::size_t stream, const Sent& sent, Coverage& coverage,
            States& after) {
  const Taking taking{before, stream, coverage, after};
  const Stream& receiver = before.streams[stream];
  if (std::holds_alternative<SentReset>(sent)) return take_reset(taking);
  if (receiver.phase == Phase::holding) {
    // TCP delivers in order: what follows waits as well.
    State state = before;
    state.streams[stream].held.push_back(sent);
    after.push_back(std::move(state));
    return;
  }
  if (std::holds_alternative<SentFin>(sent)) return take_fin(taking);
  if (receiver.phase == Phase::open_ended) return take_open_ended(taking, sent);
  if (receiver.phase != Phase::running || receiver.is_over()) {
    // RFC 5041 section 7.2: nothing is placed or delivered any more.
    coverage.took(Transition::ignored_after_error);
    after.push_back(before);
    return;
  }
  if (const auto* part = std::get_if<SentPart>(&sent)) return take_part(taking, *part);
  take_segment(taking, std::get<SentSegment>(sent));
  if (receiver.closing) give_up(taking);
}

}  // namespace suite::model
