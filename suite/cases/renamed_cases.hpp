// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Ids that cases had before, so that commands and expectations that still use them keep working.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "suite/cases/framework/case.hpp"

namespace suite::cases {

struct RenamedCase {
  std::string_view old_id;
  std::string_view id;
};
/// All of suite/cases/renamed_cases.def. Both ids are without a variant.
[[nodiscard]] std::span<const RenamedCase> renamed_cases();

/// The id that the case has today, with its variant: `id` itself unless it was renamed.
[[nodiscard]] std::string current_id(std::string_view id);

/// The shell patterns that select today what `pattern` selected: `pattern` alone if it fits a case of
/// the table, or no old id either; else the ids of the cases whose old ids it fits.
[[nodiscard]] std::vector<std::string> current_patterns(const std::string& pattern,
                                                        std::span<const Case> table);

}  // namespace suite::cases
