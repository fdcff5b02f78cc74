// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/message_tracker.hpp"

#include "dissectors/analyzer/terminate_rules.hpp"
#include "reference_rnic/wire/notation.hpp"

namespace dissectors::analyzer {

namespace wire = rnic::wire;

struct MessageTracker::State {
  State(Reporter& the_reporter, JudgedChecks& judged, Order order)
      : reporter(the_reporter),
        findings(the_reporter, judged),
        startup(findings, order),
        ddp(findings),
        rdmap(findings, startup, order),
        terminate(findings, rdmap, order) {}

  void segment(const Incoming& incoming);
  void unreadable(const FpduSeen& fpdu);
  void lose(Direction direction);

  Reporter& reporter;
  Findings findings;
  StartupRules startup;
  DdpRules ddp;
  RdmapRules rdmap;
  TerminateRules terminate;
  bool octets_missing = false;
};

MessageTracker::MessageTracker(Reporter& reporter, JudgedChecks& judged, Order order)
    : state_(std::make_unique<State>(reporter, judged, order)) {}
MessageTracker::MessageTracker(MessageTracker&&) noexcept = default;
MessageTracker& MessageTracker::operator=(MessageTracker&&) noexcept = default;
MessageTracker::~MessageTracker() = default;

const Negotiated& MessageTracker::startup(const MpaFrameSeen& seen) {
  const Negotiated& negotiated = state_->startup.frame(seen);
  if (state_->startup.complete()) state_->rdmap.followed_from_startup();
  return negotiated;
}

void MessageTracker::fpdu(const FpduSeen& fpdu) {
  const bool whole = fpdu.ulpdu.size() == fpdu.ulpdu_length;
  // With a wrong CRC any octet of it may be wrong.
  if (fpdu.crc == Crc::wrong || (!fpdu.segment && !whole)) {
    state_->unreadable(fpdu);
    state_->lose(fpdu.place.direction);
    return;
  }
  if (!fpdu.segment) {
    state_->ddp.header_short(fpdu);
    state_->terminate.sent_unreadable(fpdu.place.direction);
    state_->unreadable(fpdu);
    return;
  }
  const std::size_t header = fpdu.segment->header().size();
  state_->segment({.fpdu = fpdu,
                   .segment = *fpdu.segment,
                   .payload_length = static_cast<std::uint32_t>(fpdu.ulpdu_length - header)});
}

void MessageTracker::damaged(const FpduSeen& fpdu) {
  state_->startup.unreadable(fpdu);
  if (!fpdu.segment) return state_->terminate.sent_unreadable(fpdu.place.direction);
  state_->terminate.sent({.fpdu = fpdu, .segment = *fpdu.segment});
}

void MessageTracker::unseen_segment(Direction direction) {
  state_->terminate.sent_unreadable(direction);
}

void MessageTracker::State::segment(const Incoming& incoming) {
  startup.fpdu(incoming);
  terminate.sent(incoming);
  const MessageStep step = ddp.take(incoming, startup.version_zero_possible());
  const bool is_terminate =
      !incoming.segment.tagged && incoming.segment.rdmap().opcode() == wire::Opcode::terminate;
  const std::uint32_t blamed = is_terminate && step.last ? terminate.terminate(incoming, step) : 0;
  const RdmapRules::Answer answer = rdmap.take(incoming, step);
  reporter.message({.fpdu = &incoming.fpdu,
                    .first_segment = step.first,
                    .last_segment = step.last,
                    .message = step.number,
                    .message_octets = step.octets,
                    .request_frame = answer.request_frame,
                    .response_time = answer.response_time,
                    .blamed_frame = blamed});
}

void MessageTracker::State::unreadable(const FpduSeen& fpdu) {
  startup.unreadable(fpdu);
  MessageSeen seen;
  seen.fpdu = &fpdu;
  reporter.message(seen);
}

void MessageTracker::State::lose(Direction direction) {
  startup.hole(direction);
  ddp.lose(direction);
  rdmap.lose(direction);
  terminate.lose(direction);
}

void MessageTracker::hole(Direction direction, const Place&) {
  state_->octets_missing = true;
  state_->lose(direction);
}

void MessageTracker::ended(Direction direction, Ending ending, const Place& place) {
  state_->rdmap.ended(direction);
  state_->terminate.ended(direction, ending, place);
}

void MessageTracker::nothing_follows(Direction direction) {
  state_->ddp.nothing_follows(direction);
}

std::optional<Undone> MessageTracker::left_without_terminate(Direction direction) const {
  const RdmapRules& rdmap = state_->rdmap;
  const bool terminated =
      rdmap.terminated(Direction::from_first) || rdmap.terminated(Direction::from_second);
  if (terminated || state_->octets_missing) return std::nullopt;
  return Undone{.begun = state_->ddp.any_message(),
                .message = state_->ddp.within_message(direction),
                .responses = rdmap.unanswered(opposite(direction))};
}

void MessageTracker::finish() {
  state_->startup.finish();
  state_->ddp.finish();
  state_->rdmap.finish();
}

}  // namespace dissectors::analyzer
