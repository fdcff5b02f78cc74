// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `rnic-plugfest run`: the cells of an event, from the journal of earlier runs to the whole
// document.
#pragma once

#include "plugfest/cell.hpp"
#include "plugfest/event.hpp"
#include "plugfest/options.hpp"

namespace plugfest {

[[nodiscard]] ExitCode run(const Event& event, const std::vector<Cell>& cells,
                           const Options& options);

}  // namespace plugfest
