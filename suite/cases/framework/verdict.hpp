// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How a case's verdict is formed, and that of each of its rows: from how the body ended, from what
// its expectations found, and from its rows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// What the judge found wrong in what the IUT sent, as far as the verdict of a case depends on it.
struct FindingInputs {
  std::string_view rule;
  /// Rules that the same fault breaks.
  std::vector<std::string_view> also;
  /// The rules in the head of the case.
  std::span<const std::string_view> aims;
  bool strict = false;
};
struct FindingRuling {
  /// Of the rules that the fault breaks: one that the case is about, if there is one.
  std::string_view rule;
  /// A broken MUST fails a case that is about it. Of a case about something else it says nothing: it
  /// is one fault of the IUT, however many cases it shows in.
  Judgement judgement = Judgement::fail;
};
/// What a finding counts for in a case, live or of its capture.
[[nodiscard]] FindingRuling rule_on_finding(const FindingInputs& inputs);

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
