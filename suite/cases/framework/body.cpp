// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/framework/body.hpp"

#include <fmt/format.h>

#include <utility>

#include "suite/cases/framework/excuses.hpp"

namespace suite::cases {

namespace {

/// How much less time the rows after a lost one get.
constexpr int shortening = 10;

}  // namespace

Body::Body(const Case& a_case, Environment& environment, Context& context, CaseOutcome& outcome)
    : Judging(a_case.rules, outcome.expectations),
      iut(environment.iut, context, environment.reply_deadline),
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
  context_.patience = shortened_since_.empty() ? scaled : scaled / shortening;
  context_.deadline = context_.loop.now() + context_.patience;
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

RowSoFar Body::row_so_far() const {
  return {.row = row_name(),
          .made = outcome_.expectations,
          .stream_gave_up = partner_ && partner_->gave_up()};
}

std::string Body::why_its_reads_show_nothing(std::string_view) {
  return why_reads_show_nothing(environment_.controls, context_.evidence.reads, case_.rules);
}

void Body::on_record(ExpectationRecord& made) {
  made.at = context_.now();
  const std::string why = why_its_reads_show_nothing(made.rule);
  if (!why.empty()) shows_nothing_ = why;
  if (made.judgement == Judgement::fail &&
      (!why.empty() || (partner_ && excused_by_lower_layer(made.rule, row_so_far()))))
    made.judgement = Judgement::inconclusive;
}

void Body::heed_controls(Ruling& ruling) const {
  const bool depends = ruling.verdict == Verdict::pass || ruling.verdict == Verdict::inconclusive;
  if (!depends || shows_nothing_.empty()) return;
  ruling.verdict = Verdict::inconclusive;
  ruling.reason = shows_nothing_;
  ruling.rule.clear();
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
  std::string trouble;
  if (partner_) {
    // The API may refuse work before the end has reached the tester.
    context_.look_on(environment_.quiet_window, [&] {
      trouble = partner_->trouble();
      return !trouble.empty();
    });
  } else if (peer.ended_by_iut()) {
    trouble = "the IUT has ended the connection";
  }
  if (trouble.empty()) return stop;
  const std::string reason = fmt::format("{}: {}", trouble, stop.reason);
  const std::string why = why_its_reads_show_nothing({});
  if (!why.empty() || (partner_ && end_is_explained(row_so_far())))
    return {Verdict::inconclusive, why.empty() ? reason : why};
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
  if (end && end->verdict == Verdict::fail) context_.look_on(environment_.quiet_window);
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
  const auto reads_outside = std::exchange(context_.evidence.reads, {});
  const auto shown_outside = std::exchange(shows_nothing_, {});
  Ruling ruling = rule_on_row(name, row_body);
  heed_controls(ruling);
  context_.evidence.reads = reads_outside;
  shows_nothing_ = shown_outside;
  auto& [verdict, reason, silence, lack, rule] = ruling;
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
