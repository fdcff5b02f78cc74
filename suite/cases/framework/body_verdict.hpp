// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How the verdict of a case, and of each of its rows, is formed: from how the body ended, from its
// expectations, and from its rows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "suite/cases/framework/stop.hpp"

namespace suite::cases {

/// A verdict and one line with the reason, which is empty only for pass.
struct Ruling {
  Verdict verdict = Verdict::pass;
  std::string reason;
  /// The kind of silence that it results from.
  std::optional<Silence> silence{};
  std::optional<results::Lack> lack{};
  /// Of the expectation that decides the verdict.
  std::string rule{};
};

/// The weight of an expectation: in a strict run an advisory fails.
[[nodiscard]] Judgement weighed(Judgement judgement, bool strict);

/// A finding of the judge about what the IUT sent, as far as the verdict of a case depends on it.
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
  /// A broken MUST fails a case that is about it. It does not change the verdict of another case:
  /// it is one fault of the IUT, however many cases show it.
  Judgement judgement = Judgement::fail;
};
/// The weight of a finding in a case, live or from its capture.
[[nodiscard]] FindingRuling rule_on_finding(const FindingInputs& inputs);

/// The reason that a failed expectation gives.
[[nodiscard]] std::string failure_text(const ExpectationRecord& made);

/// Of everything that ends a body, or casts doubt on it, the worst counts; of equals the first.
void keep_worse(std::optional<CaseStop>& end, CaseStop another);

/// The ruling on `what` ("case", "row"): its end if it came before the last line, its rows, and all
/// its expectations, including the findings about what the IUT sent. The worst of them counts;
/// without any expectation nothing is proved, which is an error.
[[nodiscard]] Ruling verdict_of(const char* what, const std::optional<CaseStop>& end,
                                std::span<const RowOutcome> rows,
                                std::span<const ExpectationRecord> made);

}  // namespace suite::cases
