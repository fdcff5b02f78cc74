// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A case as a value: its id, what it judges, what it needs, and its body. The explicit case table
// is made of these.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "suite/cases/framework/environment.hpp"
#include "suite/cases/framework/outcome.hpp"

namespace suite::lower_tester {
struct Context;
}

namespace suite::cases {

class Body;

/// Which side of the connection the IUT takes.
enum class Role : std::uint8_t { responder, initiator };

/// One selectable row of the case table. Its id is `<folder>.<file>.<slug>`, with `@initiator` or
/// `@ipv6` behind it for the variants.
struct Case {
  std::string id;
  std::string title;    ///< the slug as a sentence
  std::string layer;    ///< the folder: mpa, ddp, rdmap, ...
  std::string variant;  ///< empty, "initiator" or "ipv6"
  std::string file;     ///< source file and line
  std::vector<std::string_view> rules;
  std::vector<std::string_view> needs;  ///< capabilities, see suite::iut::capability
  Configuration configuration;
  Role role = Role::responder;
  base::Family family = base::Family::ipv4;
  std::chrono::nanoseconds deadline = std::chrono::seconds(5);  ///< before the PIXIT's scale
  /// Makes the body, ready to run once. The parts outlive it.
  std::function<std::unique_ptr<Body>(const Case&, Environment&, lower_tester::Context&,
                                      CaseOutcome&)>
      make;
};

/// The explicit case table: every case of every file,
/// in the order of the folders, variants included.
[[nodiscard]] std::vector<Case> all_cases();

/// What the IUT lacks for this case, in one line; empty if it can run.
/// Needs no exchange with the IUT.
[[nodiscard]] std::string why_not_applicable(const Case& a_case, const Environment& environment);

/// Runs one case to its verdict. Never throws: a fault of the harness is the verdict `error`.
/// The IUT is reset first, and configured if it stands otherwise. Run it through `BoostExecutor`
/// where Boost.Test shall be the executor.
[[nodiscard]] CaseOutcome run_case(const Case& a_case, Environment& environment);

}  // namespace suite::cases
