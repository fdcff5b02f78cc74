// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The summary of a run's records, at its end and by `collect`: exit code and text.
#pragma once

#include <optional>
#include <string>

#include "suite/jobs/exit_code.hpp"
#include "suite/results/record.hpp"

namespace suite::runner {

/// What to say of a run whose last sentinel is an error; nothing where it is none.
[[nodiscard]] std::optional<std::string> death_at_the_end(const results::Document& document);

/// The findings about the attempts that count. That a run is not complete, judged no case except
/// those of the harness, or ended with a sentinel in error, is also a finding.
[[nodiscard]] jobs::Findings findings_of(const results::Document& document);

/// Each new failure and stale entry, then the run in a few lines; `folder` is where its files are.
[[nodiscard]] std::string outcome_text(const results::Document& document,
                                       const std::string& folder);

}  // namespace suite::runner
