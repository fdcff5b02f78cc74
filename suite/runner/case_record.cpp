// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/case_record.hpp"

#include <cctype>

namespace suite::runner {

namespace {

// Longer octet strings are cut in the results; the pcap has them whole.
constexpr std::size_t kept_hex = 4096;

double seconds(cases::Offset offset) { return std::chrono::duration<double>(offset).count(); }

results::Verdict verdict_of(cases::Verdict verdict) {
  switch (verdict) {
    case cases::Verdict::pass:
      return results::Verdict::pass;
    case cases::Verdict::fail:
      return results::Verdict::fail;
    case cases::Verdict::inconclusive:
      return results::Verdict::inconclusive;
    case cases::Verdict::not_applicable:
      return results::Verdict::not_applicable;
    case cases::Verdict::error:
      return results::Verdict::error;
  }
  return results::Verdict::error;
}

results::Judgement judgement_of(cases::Judgement judgement) {
  switch (judgement) {
    case cases::Judgement::pass:
      return results::Judgement::pass;
    case cases::Judgement::advisory:
      return results::Judgement::advisory;
    case cases::Judgement::inconclusive:
      return results::Judgement::inconclusive;
    case cases::Judgement::fail:
      return results::Judgement::fail;
  }
  return results::Judgement::error;
}

results::Direction direction_of(cases::Direction direction) {
  switch (direction) {
    case cases::Direction::to_iut:
      return results::Direction::to_iut;
    case cases::Direction::from_iut:
      return results::Direction::from_iut;
    case cases::Direction::none:
      return results::Direction::none;
  }
  return results::Direction::none;
}

// Evidence is written for people: blanks between octets, and `..` where the rest is left out. The
// results hold the digits alone.
std::string digits(const std::string& hex) {
  std::string plain;
  for (const char c : hex) {
    if (c == ' ') continue;
    if (std::isxdigit(static_cast<unsigned char>(c)) == 0) break;
    plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain.substr(0, plain.size() / 2 * 2);
}

std::optional<std::uint32_t> frame(const FrameFinder* finder, cases::Direction direction,
                                   cases::Offset at, const std::string& hex) {
  if (finder == nullptr || direction == cases::Direction::none) return {};
  return finder->find(direction, at, hex);
}

}  // namespace

results::CaseRecord describe_case(const cases::Case& one) {
  results::CaseRecord record;
  record.id = one.id;
  record.title = one.title;
  record.layer = one.layer;
  record.file = one.file;
  record.variant = one.variant;
  if (one.configuration != cases::Configuration{}) record.configuration = one.configuration.text();
  record.rules.assign(one.rules.begin(), one.rules.end());
  return record;
}

void add_outcome(results::CaseRecord& record, const cases::CaseOutcome& outcome,
                 const FrameFinder* finder) {
  record.verdict = verdict_of(outcome.verdict);
  record.reason = outcome.reason;
  record.duration = seconds(outcome.duration);
  for (const auto& one : outcome.expectations) {
    const std::string hex = digits(one.hex);
    record.expectations.push_back({.rule = one.rule,
                                   .row = one.row,
                                   .admissible = one.admissible,
                                   .actual = one.actual,
                                   .hex = hex.substr(0, kept_hex),
                                   .verdict = judgement_of(one.judgement),
                                   .direction = direction_of(one.direction),
                                   .at = seconds(one.at),
                                   .frame = frame(finder, one.direction, one.at, hex)});
    if (one.judgement == cases::Judgement::advisory)
      record.advisories.push_back({one.rule, one.actual});
  }
  for (const auto& row : outcome.rows)
    record.rows.push_back({row.name, verdict_of(row.verdict), row.reason});
  for (const auto& step : outcome.exchange) {
    const std::string hex = digits(step.hex);
    record.exchange.push_back({.at = seconds(step.at),
                               .direction = direction_of(step.direction),
                               .text = step.text,
                               .hex = hex.substr(0, kept_hex),
                               .frame = frame(finder, step.direction, step.at, hex)});
  }
}

cases::CaseOutcome outcome_without_evidence(cases::Verdict verdict, std::string reason) {
  cases::CaseOutcome outcome;
  outcome.verdict = verdict;
  outcome.reason = std::move(reason);
  return outcome;
}

}  // namespace suite::runner
