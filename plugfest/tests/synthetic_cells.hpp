// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the workers of the tests do in the place of a cell: the test program is its own worker.
#pragma once

#include <string>

#include "plugfest/cell.hpp"
#include "plugfest/cell_messages.hpp"

namespace plugfest {

/// What a worker is to do: a behaviour by its name, for this attempt at the cell.
[[nodiscard]] Task synthetic_task(const std::string& behaviour, const Cell& cell, int attempt,
                                  const std::string& folder);

/// To be called by a worker before it serves: its standard output leads to the run, past what
/// serve_cells() writes there.
void keep_channel_to_run();

[[nodiscard]] Outcome play_synthetic(const Task& task);

}  // namespace plugfest
