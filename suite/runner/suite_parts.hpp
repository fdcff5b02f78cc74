// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The parts of the program: the case table, how a case is executed, the reference IUT. Tests
// replace them with small ones.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "suite/cases/framework/case.hpp"
#include "suite/cases/framework/environment.hpp"
#include "suite/iut/iut.hpp"
#include "suite/upper_tester/reference/behaviour.hpp"

namespace suite::runner {

/// A case whose result others need to know.
struct Control {
  cases::Case one;
  std::optional<cases::FailedControl> cases::Controls::* place = nullptr;
};

struct SuiteParts {
  std::vector<cases::Case> table;
  /// Shows that the IUT answers, first and last in every run: a connection, and one Send each way.
  /// Not part of the table.
  cases::Case sentinel;
  /// The same through DAT, kDAPL and the kernel's verbs where no tester can be the peer, since the
  /// IUT's transport is not iWARP: it connects the IUT with itself.
  cases::Case dat_sentinel, kdat_sentinel, loopback_sentinel;
  /// Run once, before all but the sentinel. Not part of the table either.
  std::vector<Control> controls;
  std::function<cases::CaseOutcome(const cases::Case&, cases::Environment&)> execute;
  std::function<std::unique_ptr<iut::Iut>(base::EventLoop&, rnic::llp::Network&,
                                          const upper_tester::reference::Behaviour&)>
      make_reference;

  /// The random session of the DAT API that has this id; nothing if there is none. Empty where the
  /// suite is built without these cases.
  std::function<std::optional<cases::Case>(const std::string& id)> dat_session;

  /// A case of the table, the sentinel or a control; nullptr if there is none of this id.
  [[nodiscard]] const cases::Case* find(const std::string& id) const;
};

/// Runs the program. Also the worker's: it is this program again with `--worker`.
[[nodiscard]] int run_program(const SuiteParts& parts, int argc, char** argv);

}  // namespace suite::runner
