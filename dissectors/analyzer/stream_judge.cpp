// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/stream_judge.hpp"

namespace dissectors::analyzer {

namespace wire = rnic::wire;

StreamJudge::StreamJudge(Shared& shared, const Connection& connection, bool pick_up)
    : shared_(shared), connection_(connection), framing_(*this, shared.scratch, judged_, pick_up) {}

StreamJudge::StreamJudge(Shared& shared, const Connection& connection, const Knowledge& knowledge)
    : shared_(shared),
      connection_(connection),
      knowledge_(knowledge),
      framing_(*this, shared.scratch, judged_, false) {
  const bool first_is_initiator =
      (knowledge.tester == Direction::from_first) == (knowledge.role_of_tester == Role::initiator);
  connection_.role_of_first = first_is_initiator ? Role::initiator : Role::responder;
  const Direction judged = opposite(knowledge.tester);
  framing_.expects(judged, connection_.role(judged) == Role::initiator ? wire::MpaFrameKind::request
                                                                       : wire::MpaFrameKind::reply);
  framing_.begins(judged, true, 0);
}

void StreamJudge::miss_beginning() {
  beginning_missed_ = true;
  if (!tracker_) return;
  // The segment that a Terminate blames may not have been captured.
  for (const Direction each : {Direction::from_first, Direction::from_second})
    tracker_->unseen_segment(each);
}

void StreamJudge::emss(std::size_t octets) { framing_.emss(opposite(knowledge_->tester), octets); }

void StreamJudge::sent(const MpaFrameSeen& frame) {
  mpa_frame(frame);
  framing_.sent_startup(frame);
}

void StreamJudge::sent(Bytes ulpdu, const Place& place, bool intact) {
  FpduSeen seen;
  seen.place = place;
  seen.ulpdu_length = static_cast<std::uint16_t>(ulpdu.size());
  seen.ulpdu = ulpdu;
  seen.crc = Crc::right;
  if (!wire::read_segment(ulpdu, seen.segment.emplace())) seen.segment.reset();
  if (intact)
    tracker().fpdu(seen);
  else
    tracker().damaged(seen);
}

void StreamJudge::sent_undescribed() { tracker().unseen_segment(knowledge_->tester); }

void StreamJudge::finish(Direction direction, Rest rest) {
  // The other end may blame the unfinished segment, whose header it has read (RFC 5040 section
  // 4.8).
  if (framing_.within_fpdu(direction)) tracker().unseen_segment(direction);
  framing_.finish(direction, rest);
  if (tracker_ && rest == Rest::none_comes) tracker_->nothing_follows(direction);
}

void StreamJudge::ended(Direction direction, Ending ending, const Place& place) {
  if (tracker_) tracker_->ended(direction, ending, place);
  shared_.sink.ended(connection_, direction, ending, place);
}

void StreamJudge::close() {
  if (tracker_) tracker_->finish();
  if (framing_.is_iwarp()) {
    for (const CheckSet& checks : judged_) shared_.counts.judged.add(checks);
    shared_.sink.judged(connection_, judged_);
  }
  shared_.sink.closed(connection_);
  tracker_.reset();
}

MessageTracker& StreamJudge::tracker() {
  if (tracker_) return *tracker_;
  tracker_ =
      std::make_unique<MessageTracker>(static_cast<Reporter&>(*this), judged_,
                                       knowledge_ ? Order::as_it_happened : Order::of_the_capture);
  if (beginning_missed_) miss_beginning();
  return *tracker_;
}

void StreamJudge::mpa_frame(const MpaFrameSeen& frame) {
  const bool from_first = frame.place.direction == Direction::from_first;
  const bool request = frame.frame.kind == wire::MpaFrameKind::request;
  if (connection_.role_of_first == Role::unknown)
    connection_.role_of_first = from_first == request ? Role::initiator : Role::responder;
  shared_.sink.mpa_frame(connection_, frame);
  const Negotiated& settled = tracker().startup(frame);
  if (!request) shared_.sink.negotiated(connection_, settled);
}

void StreamJudge::fpdu(const FpduSeen& fpdu) {
  ++shared_.counts.fpdus;
  shared_.sink.fpdu(connection_, fpdu);
  tracker().fpdu(fpdu);
}

void StreamJudge::hole(Direction direction, const Place& place) {
  if (framing_.is_iwarp()) tracker().hole(direction, place);
}

void StreamJudge::finding(const Finding& finding) {
  if (knowledge_ && finding.place.direction == knowledge_->tester) return;
  ++shared_.counts.findings;
  shared_.sink.finding(connection_, finding);
}

void StreamJudge::note(const Note& note) {
  ++shared_.counts.notes[static_cast<std::size_t>(note.kind)];
  shared_.sink.note(connection_, note);
}

void StreamJudge::message(const MessageSeen& message) {
  shared_.sink.message(connection_, message);
}

}  // namespace dissectors::analyzer
