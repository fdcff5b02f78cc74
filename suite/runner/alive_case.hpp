// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The case that runs first and last and proves the IUT alive: the sentinel of a run.
#pragma once

#include "suite/cases/framework/case.hpp"

namespace suite::runner {

[[nodiscard]] cases::Case alive_case();

}  // namespace suite::runner
