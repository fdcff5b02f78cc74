// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the results say about the tester's own host.
#pragma once

#include <string>

#include "suite/results/record.hpp"

namespace suite::runner {

[[nodiscard]] std::string host_name();
[[nodiscard]] results::Machine machine();
/// Start time and a random part, e.g. `20260131T080910Z-1f0a99c2`.
[[nodiscard]] std::string new_run_id();
[[nodiscard]] std::uint64_t random_number();

}  // namespace suite::runner
