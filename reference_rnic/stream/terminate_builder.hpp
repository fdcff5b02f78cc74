// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// From a fault to the Terminate Message that reports it (RFC 5040 section 4.8, Figure 10).
#pragma once

#include <vector>

#include "reference_rnic/stream/decisions.hpp"
#include "reference_rnic/stream/fault.hpp"

namespace rnic::stream {

/// What follows the untagged DDP header of the Terminate.
[[nodiscard]] std::vector<std::byte> build_terminate(const Fault& fault,
                                                     const StreamDecisions& decisions);

}  // namespace rnic::stream
