// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The case that runs first and last and shows that the IUT answers: the sentinel of a run. After
// the first run of it come the positive controls: cases that try once what many others rest on.
#pragma once

#include <vector>

#include "suite/runner/suite_parts.hpp"

namespace suite::runner {

[[nodiscard]] cases::Case sentinel_case();
[[nodiscard]] std::vector<Control> control_cases();

}  // namespace suite::runner
