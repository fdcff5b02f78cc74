// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How a case's verdict is formed, and that of each of its rows: from how the body ended, from what
// its expectations found, and from its rows.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "suite/cases/framework/stop.hpp"

namespace suite::cases {

/// A verdict and the one line that says why, which is empty only for pass.
struct Ruling {
  Verdict verdict = Verdict::pass;
  std::string reason;
  /// It comes of this.
  std::optional<Silence> silence{};
};

/// What an expectation counts for: in a strict run an advisory fails.
[[nodiscard]] Judgement weighed(Judgement judgement, bool strict);

/// The reason that a failed expectation gives.
[[nodiscard]] std::string failure_text(const ExpectationRecord& made);

/// Of all that ends a body, or casts doubt on it, the worst counts; of equals the first.
void keep_worse(std::optional<CaseStop>& end, CaseStop another);

/// The ruling on `what` ("case", "row"): its end if it came before the last line, its rows, and all
/// that it expected, where what the IUT sent wrongly is included. The worst of them counts; who
/// expects nothing proves nothing, which is an error.
[[nodiscard]] Ruling verdict_of(const char* what, const std::optional<CaseStop>& end,
                                std::span<const RowOutcome> rows,
                                std::span<const ExpectationRecord> made);

}  // namespace suite::cases
