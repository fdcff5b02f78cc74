// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A worker: the process in which cases run, one at a time, as the parent orders
// (worker_messages.hpp).
#pragma once

#include "suite/runner/suite_parts.hpp"

namespace suite::runner {

/// Serves until its standard input ends. Standard output is reserved for messages to the parent;
/// anything else that is printed goes to standard error.
[[nodiscard]] int run_worker(const SuiteParts& parts);

}  // namespace suite::runner
