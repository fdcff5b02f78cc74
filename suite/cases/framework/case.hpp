// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A case as a value: its id, what it judges, what it needs, and its body. The explicit case table
// is made of these.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/cases/framework/case_options.hpp"
#include "suite/cases/framework/environment.hpp"
#include "suite/cases/framework/outcome.hpp"
#include "suite/cases/framework/stop.hpp"

namespace suite::lower_tester {
struct Context;
}

namespace suite::cases {

class Body;

/// One selectable row of the case table. Its id is `<folder>.<file>.<slug>`; that of a variant ends
/// with `@initiator` or `@ipv6`.
struct Case {
  std::string id;
  /// The slug as a sentence.
  std::string title;
  /// The folder: mpa, ddp, rdmap, ...
  std::string layer;
  /// Empty, "initiator" or "ipv6".
  std::string variant;
  /// Source file and line.
  std::string file;
  std::vector<std::string_view> rules;
  /// Capabilities, see suite::iut::capability.
  std::vector<std::string_view> needs;
  Configuration configuration;
  Role role = Role::responder;
  base::Family family = base::Family::ipv4;
  /// As in CaseOptions.
  std::chrono::nanoseconds deadline = std::chrono::seconds(5);
  /// Makes the body, ready to run once. The parts outlive it.
  std::function<std::unique_ptr<Body>(const Case&, Environment&, lower_tester::Context&,
                                      CaseOutcome&)>
      make;
};

/// The explicit case table: every case of every file,
/// in the order of the folders, variants included.
[[nodiscard]] std::vector<Case> all_cases();

/// Why the case does not apply to the IUT; nothing if it can run. Needs no exchange with the IUT.
[[nodiscard]] std::optional<CaseStop> why_not_applicable(const Case& a_case,
                                                         const Environment& environment);

/// Runs one case to its verdict. Never throws: a fault of the harness is the verdict `error`. The
/// IUT is reset first, and configured if its configuration differs. Use `BoostExecutor` to run it
/// with Boost.Test as the executor.
[[nodiscard]] CaseOutcome run_case(const Case& a_case, Environment& environment);

}  // namespace suite::cases
