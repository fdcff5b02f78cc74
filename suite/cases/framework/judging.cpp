// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/framework/judging.hpp"

#include <fmt/format.h>

#include "rules/catalogue.hpp"

namespace suite::cases {

void Judging::expect_that(bool holds, std::string admissible, std::string actual, RuleRef rule) {
  record(rule, {std::move(admissible)}, std::move(actual), {},
         holds ? Judgement::pass : failure_of(rule), Direction::none);
}

void Judging::advise_that(bool holds, std::string admissible, std::string actual, RuleRef rule) {
  record(rule, {std::move(admissible)}, std::move(actual), {},
         holds ? Judgement::pass : Judgement::advisory, Direction::none);
}

Judgement Judging::failure_of(const RuleRef& rule) const {
  const auto* known = ::rules::find(rule_of(rule));
  const bool should = known != nullptr && known->level == ::rules::Level::should;
  return should ? Judgement::advisory : Judgement::fail;
}

void Judging::record(const RuleRef& rule, std::vector<std::string> admissible, std::string actual,
                     std::string hex, Judgement judgement, Direction direction) {
  const bool broken = judgement == Judgement::fail;
  ExpectationRecord made{.rule = std::string(rule_of(rule)),
                         .row = row_,
                         .admissible = std::move(admissible),
                         .actual = std::move(actual),
                         .hex = std::move(hex),
                         .judgement = weighed(broken ? failure_of(rule) : judgement),
                         .direction = direction,
                         .at = {},
                         .place = {}};
  on_record(made);
  made_.push_back(made);
  if (made.judgement == Judgement::fail)
    throw CaseStop{.verdict = Verdict::fail, .reason = failure_text(made), .rule = made.rule};
  if (broken && made.judgement == Judgement::advisory) throw CaseStop{Verdict::pass, ""};
  if (made.judgement == Judgement::inconclusive)
    throw CaseStop{.verdict = Verdict::inconclusive,
                   .reason = fmt::format("{}: {}", made.rule, made.actual),
                   .rule = made.rule};
}

void Judging::fail(const RuleRef& rule, std::string admissible, std::string actual) {
  record(rule, {std::move(admissible)}, std::move(actual), {}, Judgement::fail, Direction::none);
  std::unreachable();
}

Ruling Judging::rule_on_row(const std::string& name, const std::function<void()>& body) {
  row_ = name;
  const std::size_t before = made_.size();
  std::optional<CaseStop> end;
  try {
    body();
  } catch (const CaseStop& stop) {
    end = judged(stop);
  }
  on_row_over(end);
  row_.clear();
  return verdict_of("row", end, {}, std::span(made_).subspan(before));
}

}  // namespace suite::cases
