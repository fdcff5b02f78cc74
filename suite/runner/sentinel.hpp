// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The sentinel: the case that runs first and last and proves the IUT alive.
#pragma once

#include "suite/cases/framework/case.hpp"

namespace suite::runner {

[[nodiscard]] cases::Case sentinel();

}  // namespace suite::runner
