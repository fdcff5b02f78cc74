// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/self_test/report.hpp"

#include <fmt/format.h>

namespace suite::self_test {

namespace {

// A case that a deviation fails at several rules is listed once.
void add_name(std::vector<std::string>& names, std::string_view name) {
  if (names.empty() || names.back() != name) names.emplace_back(name);
}

const char* word_for(const DeviationResult& result) {
  if (!result.own.empty()) return "caught";
  return result.out_of_reach() ? "n/a" : "UNNOTICED";
}

// By case and rule: the deviations that made an expectation of the rule fail in the case.
std::map<std::string, runner::SeenToFail> seen_at(const Matrix& matrix) {
  std::map<std::string, runner::SeenToFail> seen;
  for (const DeviationResult& result : matrix.deviations)
    for (const auto* failures : {&result.own, &result.collateral})
      for (const Failure& failure : *failures) {
        if (failure.error) continue;
        for (const std::string& rule : failure.rules)
          add_name(seen[failure.id][rule], result.info->name);
      }
  return seen;
}

runner::SelfTestRecord::BrokenRule record_of(const DeviationResult& result) {
  runner::SelfTestRecord::BrokenRule record{.rule = std::string(result.rule),
                                            .text = std::string(result.info->text),
                                            .cases_run = result.cases_run,
                                            .caught_by = {},
                                            .collateral = {}};
  for (const Failure& failure : result.own) record.caught_by.push_back(failure.id);
  for (const Failure& failure : result.collateral)
    record.collateral.push_back({.case_id = failure.id,
                                 .rules = failure.rules,
                                 .reason = failure.reason,
                                 .divergence = failure.divergence,
                                 .error = failure.error});
  return record;
}

}  // namespace

std::string line_of(const DeviationResult& result) {
  return fmt::format("{:<9} {:<44} {} of {} cases at {}{}", word_for(result), result.info->name,
                     result.own.size(), result.cases_run, result.rule,
                     result.collateral.empty()
                         ? std::string()
                         : fmt::format("; {} elsewhere", result.collateral.size()));
}

std::string line_of(const LawfulResult& result) {
  const char* word = !result.wrong.empty() ? "WRONG" : result.changed == 0 ? "UNSEEN" : "passed";
  return fmt::format("{:<9} {:<44} {} of {} cases changed, {} not applicable, {} wrong", word,
                     name_of(result.set), result.changed, result.cases_run, result.not_applicable,
                     result.wrong.size());
}

std::string line_of(const VariedResult& result) {
  const auto word = [&] {
    switch (result.noticed) {
      case Noticed::caught:
        return "caught";
      case Noticed::no_case:
        return "no case";
      case Noticed::hidden:
        return "hidden";
      case Noticed::unnoticed:
        break;
    }
    return "UNNOTICED";
  };
  return fmt::format("{:<9} {:<44} {} under {}{}{}", word(), result.info->name, result.info->rule,
                     name_of(result.set), result.reason.empty() ? "" : ": ", result.reason);
}

std::string text_of(const ProfileResult& result) {
  std::string text =
      fmt::format("{:<9} {:<28} {} rules blamed: {}\n", result.good() ? "right" : "WRONG",
                  result.profile->name, result.blamed.size(), result.profile->what);
  const auto add = [&](const char* heading, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) text += fmt::format("  {}: {}\n", heading, line);
  };
  add("blamed, and not broken", result.wrongly_blamed());
  add("listed, and not blamed", result.not_blamed());
  add("no rule", result.unexplained);
  return text;
}

runner::SelfTestRecord record_of(const Matrix& matrix) {
  runner::SelfTestRecord record;
  for (const DeviationResult& result : matrix.deviations) {
    const std::string name(result.info->name);
    auto& deviation = record.deviations[name];
    deviation.own.rule = result.info->rule;
    deviation.own.text = result.info->text;
    (result.at_own_rule() ? deviation.own : deviation.also_breaks[std::string(result.rule)]) =
        record_of(result);
    for (const Failure& failure : result.own) add_name(record.seen_to_fail_by[failure.id], name);
    for (const Failure& failure : result.collateral)
      if (!failure.error) add_name(record.seen_to_fail_by[failure.id], name);
  }
  record.seen_to_fail_at = seen_at(matrix);
  for (const auto& [id, one] : matrix.cases)
    record.cases[id] = {.aim = {one.aim.begin(), one.aim.end()},
                        .judged = {one.judged.begin(), one.judged.end()},
                        .in_frames = one.in_frames,
                        .applies = one.applies};
  return record;
}

}  // namespace suite::self_test
