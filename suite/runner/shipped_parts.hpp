// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The parts that the suite's programs are made of: all cases,
// Boost.Test as their executor, the reference IUT.
#pragma once

#include "suite/runner/suite_parts.hpp"

namespace suite::runner {

[[nodiscard]] SuiteParts shipped_suite();
/// The same without the cases of the DAT API, which do not judge an RNIC on the wire.
[[nodiscard]] SuiteParts shipped_wire_suite();

}  // namespace suite::runner
