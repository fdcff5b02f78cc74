// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the body of a DAT case is written in: expectations, events, rows. It runs on the main thread
// of its own process and may block: the deadline ends the process.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "suite/cases/dat/framework/dat_call.hpp"
#include "suite/cases/dat/framework/dat_names.hpp"
#include "suite/cases/dat/framework/dat_objects.hpp"
#include "suite/cases/framework/judging.hpp"

namespace suite::cases::dat {

struct DatCase;

/// Takes the results of a case line by line, as they come: a crash loses nothing.
class DatReport {
 public:
  virtual ~DatReport() = default;
  virtual void expectation(const ExpectationRecord& made) = 0;
  /// A line for the exchange: what was called and what came back.
  virtual void step(std::string_view text) = 0;
  virtual void row_ended(const RowOutcome& row) = 0;
};

/// What a case runs with.
struct DatContext {
  const DatCase& one;
  DatReport& report;
  DatTarget target;
};

/// The returns that are admissible for a call.
struct Returns {
  std::vector<DAT_RETURN_TYPE> types;
  /// Lawful, and worth an advisory.
  std::vector<DAT_RETURN_TYPE> tolerated;
  /// A return that no document states for the call, or that documents disagree on.
  [[nodiscard]] Returns or_tolerably(DAT_RETURN_TYPE type) const {
    Returns more = *this;
    more.tolerated.push_back(type);
    return more;
  }
};
[[nodiscard]] inline Returns returns(DAT_RETURN_TYPE type) { return {{type}, {}}; }
[[nodiscard]] inline Returns returns_one_of(std::initializer_list<DAT_RETURN_TYPE> types) {
  return {types, {}};
}
inline const Returns succeeds = returns(DAT_SUCCESS);

class DatBody : public Judging {
 public:
  explicit DatBody(DatContext& context);
  /// The case itself: the body of DAT_CASE.
  virtual void body() = 0;

  /// The IA under test, opened when it is first used and closed after the case.
  Ia& ia();
  [[nodiscard]] const DatTarget& target() const { return context_.target; }
  /// Two connected endpoints of the IA.
  [[nodiscard]] Pair connected(const PairOptions& options = {});

  // -- expectations: one that fails is recorded and ends the body (or row) --
  /// A call returned an admissible code. A call that the provider does not have
  /// (DAT_NOT_IMPLEMENTED, or DAT_MODEL_NOT_SUPPORTED) makes the case not applicable, unless that
  /// was expected.
  void expect(DAT_RETURN got, const Returns& wanted, RuleRef rule = {});
  /// The next event of this dispatcher, within the case's time, is of this kind.
  DAT_EVENT expect_event(const Evd& evd, DAT_EVENT_NUMBER number, RuleRef rule = {});
  /// ... a completion of this status, cookie, and (where it is a success) length.
  DAT_DTO_COMPLETION_EVENT_DATA expect_completion(const Evd& evd, DAT_UINT64 cookie,
                                                  DAT_DTO_COMPLETION_STATUS status,
                                                  RuleRef rule = {});
  /// There is no event, as a call that must follow all earlier events shows.
  void expect_no_event(const Evd& evd, RuleRef rule = {});
  void expect_state(const Ep& ep, DAT_EP_STATE state, RuleRef rule = {});

  /// A data row: a verdict of its own.
  void row(const std::string& name, const std::function<void()>& body);
  /// A preparation that must succeed before the case can judge; otherwise it is inconclusive.
  void need(DAT_RETURN got, std::string_view what) const;

 private:
  void record(const RuleRef& rule, std::vector<std::string> admissible, std::string actual,
              Judgement judgement) {
    Judging::record(rule, std::move(admissible), std::move(actual), {}, judgement, Direction::none);
  }
  void on_record(ExpectationRecord& made) override { context_.report.expectation(made); }

  DatContext& context_;
  std::vector<ExpectationRecord> made_;
  std::unique_ptr<Ia> ia_;
};

}  // namespace suite::cases::dat
