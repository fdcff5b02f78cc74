// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the program is made of: the case table, how a case is executed, the reference IUT. Tests put
// toys in their place.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "suite/cases/framework/case.hpp"
#include "suite/iut/iut.hpp"
#include "suite/upper_tester/reference/behaviour.hpp"

namespace suite::runner {

struct SuiteParts {
  std::vector<cases::Case> table;
  /// Shows that the IUT answers, first and last in every run: a connection, and one Send each way.
  /// Not part of the table.
  cases::Case sentinel;
  std::function<cases::CaseOutcome(const cases::Case&, cases::Environment&)> execute;
  std::function<std::unique_ptr<iut::Iut>(base::EventLoop&, rnic::llp::Network&,
                                          const upper_tester::reference::Behaviour&)>
      make_reference;

  /// A case of the table, or the sentinel; nullptr if there is none of this id.
  [[nodiscard]] const cases::Case* find(const std::string& id) const;
};

/// Runs the program. Also the worker's: it is this program again with `--worker`.
[[nodiscard]] int run_program(const SuiteParts& parts, int argc, char** argv);

}  // namespace suite::runner
