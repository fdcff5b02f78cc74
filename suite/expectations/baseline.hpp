// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An earlier run in place of a list of known issues: what failed in it may fail again, in the same
// way.
#pragma once

#include <functional>
#include <string>

#include "suite/expectations/expectations_file.hpp"
#include "suite/results/record.hpp"

namespace suite::expectations {

/// An entry for each case of the run that did not pass, with the rules that it broke, and one for
/// each finding. What it observed may read differently the next time: the verdict and the rules count.
/// `place` is what the gate names as the entry; `current_id` gives the present id of a case that may
/// have been renamed.
[[nodiscard]] KnownIssues issues_of(
    const results::Document& run, const std::string& place,
    const std::function<std::string(const std::string&)>& current_id);

}  // namespace suite::expectations
