// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/framework/body.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace suite::cases {

namespace {

/// How much less time the rows after a lost one get.
constexpr int shortening = 10;

/// The layer of a rule: a fault in a lower layer may be why a higher one does not do its work.
int layer_of(std::string_view rule) {
  if (rule.starts_with("mpa.")) return 0;
  return rule.starts_with("ddp.") ? 1 : 2;
}

/// What the IUT sent on the wire has been found wrong in this row, below `layer`.
bool found_wrong(const CaseOutcome& outcome, std::string_view row, int layer) {
  return std::ranges::any_of(outcome.expectations, [=](const ExpectationRecord& one) {
    return one.row == row && one.place && layer_of(one.rule) < layer &&
           (one.judgement == Judgement::fail || one.judgement == Judgement::also_seen);
  });
}

}  // namespace

Body::Body(const Case& a_case, Environment& environment, Context& context, CaseOutcome& outcome)
    : Judging(a_case.rules, outcome.expectations),
      iut(environment.iut, context),
      peer(*this, context),
      case_(a_case),
      environment_(environment),
      context_(context),
      outcome_(outcome) {
  start_deadline();
}

Body::~Body() {
  context_.network.limit_segments({});
  context_.network.use_usual_address();
}

void Body::limit_segments(std::size_t octets) { context_.network.limit_segments(octets); }

void Body::use_spare_address() {
  if (case_.family != base::Family::ipv4)
    stop(Verdict::not_applicable, "the tester changes a path over IPv4 only");
  if (!context_.network.use_spare_address())
    stop(Verdict::not_applicable,
         "the tester has no address to spare: tester_spare of the PIXIT names some");
}

void Body::start_deadline() {
  const auto scaled = std::chrono::duration_cast<std::chrono::nanoseconds>(
      case_.deadline * environment_.deadline_scale);
  context_.deadline =
      context_.loop.now() + (shortened_since_.empty() ? scaled : scaled / shortening);
  iut.answer_by(context_.loop.now() + scaled);
}

void Body::finish_judging() {
  for (const auto& other : others_) other->finish_judging();
  if (partner_) partner_->finish_judging();
  peer.raw().finish_judging();
}

void Body::close_connections() {
  others_.clear();
  partner_.reset();
  acceptor_.reset();  // an attempt that the IUT repeats finds no listener
  peer.renew();
}

// ---------------------------------------------------------------- judging

/// If the row had less time than usual, something that is missing for lack of time shows nothing.
Judgement Body::weighed(Judgement judgement) const {
  const Judgement strictly = cases::weighed(judgement, environment_.strict);
  const bool late = !shortened_since_.empty() && time_is_up();
  return strictly == Judgement::fail && late ? Judgement::inconclusive : strictly;
}

/// If the tester's own stream cannot take what the judge has found wrong, that is why layers above fail.
void Body::on_record(ExpectationRecord& made) {
  made.at = context_.now();
  if (made.judgement == Judgement::fail && partner_ &&
      found_wrong(outcome_, row_name(), layer_of(made.rule)))
    made.judgement = Judgement::inconclusive;
}

void Body::note_fault(const SenderFault& fault) {
  std::vector<std::string_view> also;
  for (const ::rules::RuleId other : fault.also) also.push_back(other.id);
  const FindingRuling ruling = rule_on_finding({.rule = fault.rule,
                                                .also = std::move(also),
                                                .aims = case_.rules,
                                                .strict = environment_.strict});
  // One record per rule and row is enough: a wrong sender is wrong in every segment.
  if (!faults_noted_.insert(row_name() + "/" + std::string(ruling.rule)).second) return;
  outcome_.expectations.push_back({std::string(ruling.rule),
                                   row_name(),
                                   {fault.expected},
                                   fault.actual,
                                   fault.hex,
                                   ruling.judgement,
                                   Direction::from_iut,
                                   context_.now(),
                                   fault.place});
}

// ---------------------------------------------------------------- rows

CaseStop Body::judged(CaseStop stop) {
  if (stop.verdict != Verdict::error || !stop.refused) return stop;
  const std::string trouble = partner_              ? partner_->trouble()
                              : peer.ended_by_iut() ? "the IUT has ended the connection"
                                                    : "";
  if (trouble.empty()) return stop;
  const std::string reason = fmt::format("{}: {}", trouble, stop.reason);
  constexpr int any_layer = 3;
  if (partner_ && found_wrong(outcome_, row_name(), any_layer))
    return {Verdict::inconclusive, reason};
  outcome_.expectations.push_back({.rule = "ddp.close.not-by-ddp-alone",
                                   .row = row_name(),
                                   .admissible = {"the connection stays until somebody closes it"},
                                   .actual = reason,
                                   .hex = {},
                                   .judgement = Judgement::fail,
                                   .direction = Direction::from_iut,
                                   .at = context_.now(),
                                   .place = {}});
  return {Verdict::fail, reason};
}

void Body::on_row_over(const std::optional<CaseStop>& end) {
  row_was_late_ = time_is_up();
  // Later arrivals may show why: a fault of the sender is often complete only then.
  if (end && end->verdict == Verdict::fail)
    context_.loop.run_until(context_.loop.now() + environment_.quiet_window, [] { return false; });
  finish_judging();
}

void Body::prepare_next_row() {
  close_connections();
  probe_.reset();
  terminate_seen_ = false;
  unanswering_ = false;
  iut.reset();
  start_deadline();
}

void Body::row(const std::string& name, const std::function<void()>& row_body) {
  if (rows_used_) prepare_next_row();
  rows_used_ = true;
  context_.note(Direction::none, "row: " + name);
  auto [verdict, reason, silence, lack, rule] = rule_on_row(name, row_body);
  if (row_was_late_ && !shortened_since_.empty() && verdict != Verdict::fail) {
    verdict = Verdict::inconclusive;
    lack.reset();
    reason = fmt::format("a tenth of the deadline has passed, the rest was used up by row {}{}{}",
                         shortened_since_, reason.empty() ? "" : ": ", reason);
  }
  outcome_.rows.push_back({name, verdict, reason, lack});
  if (row_was_late_ && verdict != Verdict::pass && shortened_since_.empty())
    shortened_since_ = name;
  // The next row would meet the same fault of the harness.
  if (verdict == Verdict::error)
    throw CaseStop{.verdict = verdict, .reason = reason, .silence = silence};
}

}  // namespace suite::cases
