// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The version of this build, as results state it.
#pragma once

#include "suite/results/record.hpp"

namespace suite::results {

[[nodiscard]] SuiteVersion suite_version();

}  // namespace suite::results
