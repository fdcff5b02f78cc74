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
#include "suite/cases/framework/rule_ref.hpp"

namespace suite::cases::dat {

struct DatCase;

/// What a case came to so far goes out here, word by word: a crash loses nothing.
class DatReport {
 public:
  virtual ~DatReport() = default;
  enum class Judgement : std::uint8_t { pass, advisory, inconclusive, fail };
  virtual void expectation(std::string_view rule, std::string_view row,
                           const std::vector<std::string>& admissible, std::string_view actual,
                           Judgement judgement) = 0;
  /// A line for the exchange: what was called and what came back.
  virtual void step(std::string_view text) = 0;
  /// `verdict`: pass, not_applicable, inconclusive, fail, error.
  virtual void row_ended(std::string_view name, std::string_view verdict,
                         std::string_view reason) = 0;
};

/// What a case runs in.
struct DatContext {
  const DatCase& one;
  DatReport& report;
  DatTarget target;
};

/// Ends the case or row before its last line.
struct DatStop {
  std::string verdict;  ///< not_applicable, inconclusive, error; or fail, recorded already
  std::string reason;
};

/// The returns that are admissible for a call.
struct Returns {
  std::vector<DAT_RETURN_TYPE> types;
  std::vector<DAT_RETURN_TYPE> tolerated;  ///< lawful, and worth an advisory
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

class DatBody {
 public:
  explicit DatBody(DatContext& context);
  virtual ~DatBody() = default;
  DatBody(const DatBody&) = delete;
  DatBody& operator=(const DatBody&) = delete;

  /// The IA under test, opened when it is first used and closed behind the case.
  Ia& ia();
  [[nodiscard]] const DatTarget& target() const { return context_.target; }
  /// Two endpoints of the IA, connected to one another.
  [[nodiscard]] Pair connected(const PairOptions& options = {});

  // -- expectations: one that fails is recorded and ends the body (or row) --
  /// A call returned what it may. A call that the provider does not have (DAT_NOT_IMPLEMENTED, or
  /// DAT_MODEL_NOT_SUPPORTED) makes the case not applicable, unless that was expected.
  void expect(DAT_RETURN got, const Returns& wanted, RuleRef rule = {});
  void expect_that(bool holds, std::string admissible, std::string actual, RuleRef rule = {});
  /// What only some read out of the documents: an advisory where it does not hold.
  void advise_that(bool holds, std::string admissible, std::string actual, RuleRef rule = {});
  /// The next event of this dispatcher, within the case's time, is of this kind.
  DAT_EVENT expect_event(const Evd& evd, DAT_EVENT_NUMBER number, RuleRef rule = {});
  /// ... a completion of this status, cookie, and (where it is a success) length.
  DAT_DTO_COMPLETION_EVENT_DATA expect_completion(const Evd& evd, DAT_UINT64 cookie,
                                                  DAT_DTO_COMPLETION_STATUS status,
                                                  RuleRef rule = {});
  /// No event is there now, as a call that must follow all earlier events shows.
  void expect_no_event(const Evd& evd, RuleRef rule = {});
  void expect_state(const Ep& ep, DAT_EP_STATE state, RuleRef rule = {});

  /// A data row: a verdict of its own.
  void row(std::string name, const std::function<void()>& body);
  [[noreturn]] void stop(std::string verdict, std::string reason) const {
    throw DatStop{std::move(verdict), std::move(reason)};
  }
  /// A preparation that has to succeed for the case to have its object; else it is inconclusive.
  void need(DAT_RETURN got, std::string_view what) const;

 private:
  void record(const RuleRef& rule, std::vector<std::string> admissible, std::string actual,
              DatReport::Judgement judgement);

  DatContext& context_;
  std::string row_;
  std::unique_ptr<Ia> ia_;
};

}  // namespace suite::cases::dat
