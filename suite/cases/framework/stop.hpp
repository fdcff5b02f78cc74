// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How the body of a case, or a scenario, ends before its last line: with a verdict and one line
// with the reason.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "suite/cases/framework/outcome.hpp"

namespace suite::cases {

/// Thrown by the framework, caught by the executor and by row(). Not an error of the program.
struct CaseStop {
  Verdict verdict = Verdict::error;
  std::string reason;
  /// The IUT's API has refused a command that must succeed.
  bool refused = false;
  /// There was no answer.
  std::optional<Silence> silence{};
  /// With not applicable: what the IUT lacks.
  std::optional<results::Lack> lack{};
  /// Of the expectation that ended the body.
  std::string rule{};
};

/// The end of a body for which the IUT lacks something.
[[nodiscard]] inline CaseStop lacking(results::Lack lack, std::string reason) {
  return {.verdict = Verdict::not_applicable, .reason = std::move(reason), .lack = std::move(lack)};
}
[[nodiscard]] inline CaseStop lacking_limit(std::string_view name, std::string reason) {
  return lacking({results::Lack::Kind::limit, std::string(name)}, std::move(reason));
}

}  // namespace suite::cases
