// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What all bodies of cases share, whatever they drive: expectations that are judged and recorded,
// their rule, their row, and how a body ends before its last line.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "suite/cases/framework/body_verdict.hpp"
#include "suite/cases/framework/rule_ref.hpp"
#include "suite/cases/framework/stop.hpp"

namespace suite::cases {

class Judging {
 public:
  virtual ~Judging() = default;
  Judging(const Judging&) = delete;
  Judging& operator=(const Judging&) = delete;

  /// A condition that must hold. If it does not, the body (or row) ends. `actual`: what came.
  void expect_that(bool holds, std::string admissible, std::string actual, RuleRef rule = {});
  /// `otherwise`: a constant text, which is true only if the condition does not hold.
  void expect_that(bool holds, std::string admissible, const char* otherwise, RuleRef rule = {}) {
    std::string actual = holds ? admissible : otherwise;
    expect_that(holds, std::move(admissible), std::move(actual), rule);
  }
  /// What a SHOULD asks for, or only one reading of the documents: an advisory if it does not hold.
  void advise_that(bool holds, std::string admissible, std::string actual, RuleRef rule = {});
  void advise_that(bool holds, std::string admissible, const char* otherwise, RuleRef rule = {}) {
    std::string actual = holds ? admissible : otherwise;
    advise_that(holds, std::move(admissible), std::move(actual), rule);
  }
  /// Ends the case (or row) with inconclusive, not applicable or error.
  [[noreturn]] void stop(Verdict verdict, std::string reason) const {
    throw CaseStop{verdict, std::move(reason)};
  }

 protected:
  /// `rules`: those of the case, the first applies if an expectation names none. `made`: receives
  /// the records. Both outlive it.
  Judging(std::span<const std::string_view> rules, std::vector<ExpectationRecord>& made)
      : rules_(rules), made_(made) {}

  /// Adds the record; if it does not hold or is inconclusive, the body (or row) ends.
  void record(const RuleRef& rule, std::vector<std::string> admissible, std::string actual,
              std::string hex, Judgement judgement, Direction direction);
  [[noreturn]] void fail(const RuleRef& rule, std::string admissible, std::string actual);
  [[nodiscard]] std::string_view rule_of(const RuleRef& rule) const {
    return rule.id.empty() ? rules_.front() : rule.id;
  }
  [[nodiscard]] std::span<const std::string_view> rules_of_case() const { return rules_; }
  /// What does not hold is a failure, or an advisory where the rule is a SHOULD.
  [[nodiscard]] virtual Judgement failure_of(const RuleRef& rule) const;
  /// The weight of a judgement in this run, at this time.
  [[nodiscard]] virtual Judgement weighed(Judgement judgement) const { return judgement; }
  /// Completes a record before it is kept.
  virtual void on_record(ExpectationRecord& /*made*/) {}

  /// Runs the body of a row and decides its verdict. A stop is passed through `judged` first.
  [[nodiscard]] Ruling rule_on_row(const std::string& name, const std::function<void()>& body);
  /// A stop as it is judged.
  [[nodiscard]] virtual CaseStop judged(CaseStop stop) { return stop; }
  /// After the body of a row, before the ruling: what is still to be judged. `end`: how it stopped.
  virtual void on_row_over(const std::optional<CaseStop>& /*end*/) {}
  [[nodiscard]] const std::string& row_name() const { return row_; }

 private:
  std::span<const std::string_view> rules_;
  std::vector<ExpectationRecord>& made_;
  std::string row_;
};

}  // namespace suite::cases
