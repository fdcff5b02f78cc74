// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Boost.Test as the executor of cases: one test case per run, its observer and results as a second
// check.
#pragma once

#include <memory>

#include "suite/cases/framework/case.hpp"

namespace suite::cases {

/// Boost.Test allows one per process and belongs to one thread; so does this. Not for programs that
/// are Boost.Test programs themselves.
class BoostExecutor {
 public:
  BoostExecutor();
  ~BoostExecutor();
  BoostExecutor(const BoostExecutor&) = delete;
  BoostExecutor& operator=(const BoostExecutor&) = delete;

  /// Like suite::cases::run_case; if Boost.Test and the case disagree about its success, the
  /// verdict is `error`.
  [[nodiscard]] CaseOutcome run_case(const Case& a_case, Environment& environment);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace suite::cases
