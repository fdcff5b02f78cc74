// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/framework/body_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rules/catalogue.hpp"

namespace suite::cases {

namespace {

/// The weight of a verdict: the whole takes the one with the greatest weight.
int weight(Verdict verdict) {
  switch (verdict) {
    case Verdict::not_applicable:
      return 0;
    case Verdict::pass:
      return 1;
    case Verdict::inconclusive:
      return 2;
    case Verdict::fail:
      return 3;
    case Verdict::error:
      return 4;
  }
  return 4;
}

void worsen(Ruling& ruling, Verdict verdict, const std::string& reason,
            const std::string& rule = {}) {
  if (weight(verdict) > weight(ruling.verdict))
    ruling = {.verdict = verdict, .reason = reason, .rule = rule};
}

void consider(Ruling& ruling, std::span<const RowOutcome> rows) {
  for (const RowOutcome& row : rows)
    if (row.verdict != Verdict::pass)
      worsen(ruling, row.verdict, fmt::format("row {}: {}", row.name, row.reason));
  const bool none_applies = std::ranges::all_of(
      rows, [](const RowOutcome& row) { return row.verdict == Verdict::not_applicable; });
  if (ruling.verdict == Verdict::pass && !rows.empty() && none_applies)
    ruling = {Verdict::not_applicable, rows.front().reason, {}, rows.front().lack};
}

/// A failure of the IUT before its upper tester stopped answering remains the verdict: it may well
/// be the cause of the silence.
void unhide(Ruling& ruling, std::span<const ExpectationRecord> made) {
  const auto failed = std::ranges::find(made, Judgement::fail, &ExpectationRecord::judgement);
  if (ruling.verdict != Verdict::error || !ruling.silence || failed == made.end()) return;
  ruling.verdict = Verdict::fail;
  ruling.rule = failed->rule;
  ruling.reason = fmt::format("{}; after that: {}", failure_text(*failed), ruling.reason);
}

}  // namespace

Judgement weighed(Judgement judgement, bool strict) {
  return judgement == Judgement::advisory && strict ? Judgement::fail : judgement;
}

FindingRuling rule_on_finding(const FindingInputs& inputs) {
  const auto is_aim = [&](std::string_view rule) {
    return std::ranges::find(inputs.aims, rule) != inputs.aims.end();
  };
  const auto other = std::ranges::find_if(inputs.also, is_aim);
  const bool aimed = is_aim(inputs.rule) || other != inputs.also.end();
  const std::string_view named =
      is_aim(inputs.rule) || other == inputs.also.end() ? inputs.rule : *other;
  const auto* rule = ::rules::find(named);
  const bool must = rule == nullptr || rule->level == ::rules::Level::must;
  if (!must && !inputs.strict) return {.rule = named, .judgement = Judgement::advisory};
  return {.rule = named, .judgement = aimed ? Judgement::fail : Judgement::also_seen};
}

std::string failure_text(const ExpectationRecord& made) {
  return fmt::format("{}: {} in place of {}", made.rule, made.actual, made.admissible.front());
}

void keep_worse(std::optional<CaseStop>& end, CaseStop another) {
  if (!end || weight(another.verdict) > weight(end->verdict)) end = std::move(another);
}

Ruling verdict_of(const char* what, const std::optional<CaseStop>& end,
                  std::span<const RowOutcome> rows, std::span<const ExpectationRecord> made) {
  Ruling ruling;
  if (end) ruling = {end->verdict, end->reason, end->silence, end->lack, end->rule};
  consider(ruling, rows);
  for (const ExpectationRecord& one : made)
    if (one.judgement == Judgement::fail)
      worsen(ruling, Verdict::fail, failure_text(one), one.rule);
  unhide(ruling, made);
  if (ruling.verdict == Verdict::pass && made.empty())
    ruling = {Verdict::error, fmt::format("the {} expected nothing", what)};
  return ruling;
}

}  // namespace suite::cases
