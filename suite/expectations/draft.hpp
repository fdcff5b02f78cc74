// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Drafts a file of known issues from the new failures of a run, for the vendor of an implementation to
// complete: what was observed is filled in, the reason has to be written.
#pragma once

#include <string>
#include <string_view>

#include "suite/results/record.hpp"

namespace suite::expectations {

/// An entry for each new failure that a file can list, keyed by the implementation and its version,
/// with an empty `reason`, which the loader refuses until it is filled in. `date` is YYYY-MM-DD.
[[nodiscard]] std::string draft(const results::Document& run, const std::string& date);

/// Whether a file is a draft in which nobody has written yet, so that another draft may replace it.
[[nodiscard]] bool is_unwritten_draft(std::string_view text);

}  // namespace suite::expectations
