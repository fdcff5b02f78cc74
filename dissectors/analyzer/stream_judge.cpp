// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/stream_judge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dissectors/analyzer/statement.hpp"
#include "rules/catalogue.hpp"

namespace dissectors::analyzer {

namespace wire = rnic::wire;

namespace {

/// Whether what breaks the rule is for its receiver an error of the LLP, of DDP or of RDMAP.
bool is_error_of_the_stream(std::string_view id) {
  const rules::Rule* rule = rules::find(id);
  if (rule == nullptr || rule->level != rules::Level::must) return false;
  constexpr std::array above_mpa{5040, 5041, 7306};
  return id.starts_with("mpa.crc.") || std::ranges::find(above_mpa, rule->rfc) != above_mpa.end();
}

std::string describe(const Undone& undone) {
  if (undone.message) return "within a message";
  if (undone.responses > 0)
    return fmt::format("with {} Requests of the other end unanswered", undone.responses);
  return "by a reset";
}

}  // namespace

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
  if (tracker_) {
    tracker_->ended(direction, ending, place);
    look_for_terminate(direction, ending, place);
  }
  closing_ = true;
  shared_.sink.ended(connection_, direction, ending, place);
}

/// No rule is broken for certain: an error of the LLP may leave no way to send a Terminate (RFC 5040
/// section 6.2.1), and the capture does not show what was an error to the end that closes.
void StreamJudge::look_for_terminate(Direction direction, Ending ending, const Place& place) {
  const auto undone = tracker_->left_without_terminate(direction);
  if (!undone) return;
  const Error& met = errors_[index_of(opposite(direction))];
  if (met.frame != 0)
    return note({NoteKind::no_terminate, place,
                 fmt::format("the stream is torn down without a Terminate, after frame {} broke {} "
                             "(RFC 5040 section 6.2.1: where RDMAP or the LLP meets an error, a "
                             "Terminate should be sent)",
                             met.frame, met.rule)});
  const bool reset = ending == Ending::reset && !closing_ && undone->begun;
  if (undone->message || undone->responses > 0 || reset)
    note({NoteKind::no_terminate, place,
          fmt::format(
              "the stream is torn down {}, without a Terminate (RFC 5040 section 6.2: possible, "
              "and highly undesirable)",
              describe(*undone))});
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
  if (finding.certainty == Certainty::certain && is_error_of_the_stream(finding.rule.id))
    errors_[index_of(finding.place.direction)] = {finding.rule.id, finding.place.last_frame};
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
