// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which cases a run has, in which order, and how they are divided if there is more than one
// copy of the IUT.
#pragma once

#include <cstddef>
#include <vector>

#include "suite/expectations/expectations_file.hpp"
#include "suite/jobs/schedule.hpp"
#include "suite/runner/suite_parts.hpp"

namespace suite::runner {

/// The cases of one copy of the IUT, by their numbers in the schedule: the sentinel first and last,
/// the controls after the first, and its share of the selected cases between them.
struct Plan {
  std::vector<const cases::Case*> list;
  std::vector<jobs::Job> jobs;
};

/// At most `copies` plans, and at least one. Cases that are `apart` run alone, after all others of
/// their plan. A second plan has these, and all that need a configuration of the IUT other than its
/// default: what they do to their copy of the IUT affects no others. It is not made for a few
/// cases.
[[nodiscard]] std::vector<Plan> make_plans(const SuiteParts& parts,
                                           const std::vector<const cases::Case*>& selected,
                                           const std::vector<expectations::Isolation>& apart,
                                           std::size_t copies);

/// Marks the jobs whose entry says that the case hangs.
void mark_known_hangs(Plan& plan, const std::vector<expectations::Entry>& entries);

}  // namespace suite::runner
