// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/case_record.hpp"

#include <cctype>

namespace suite::runner {

namespace {

// Longer octet strings are cut in the results; the pcap has them complete.
constexpr std::size_t kept_hex = 4096;

std::string digits(const std::string& hex) {
  std::string plain;
  for (const char c : hex) {
    if (c == ' ') continue;
    if (std::isxdigit(static_cast<unsigned char>(c)) == 0) break;
    plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain.substr(0, plain.size() / 2 * 2);
}

// A record of octets on the wire, whether of an expectation or of a step.
template <class Record>
void finish(Record& record, const FrameFinder* finder) {
  if (finder != nullptr && record.direction != results::Direction::none)
    record.frame = finder->find(record.direction, record.at, record.hex);
  if (record.hex.size() > kept_hex) record.hex.resize(kept_hex);
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

void keep_digits_alone(results::CaseOutcome& outcome) {
  for (auto& expectation : outcome.expectations) expectation.hex = digits(expectation.hex);
  for (auto& step : outcome.exchange) step.hex = digits(step.hex);
}

void finish_evidence(results::CaseRecord& record, const FrameFinder* finder) {
  for (auto& expectation : record.outcome.expectations) {
    finish(expectation, finder);
    if (expectation.judgement == results::Judgement::advisory)
      record.advisories.push_back({expectation.rule, expectation.actual});
  }
  for (auto& step : record.outcome.exchange) finish(step, finder);
}

cases::CaseOutcome outcome_without_evidence(cases::Verdict verdict, std::string reason) {
  cases::CaseOutcome outcome;
  outcome.verdict = verdict;
  outcome.reason = std::move(reason);
  return outcome;
}

}  // namespace suite::runner
