// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The results as reports/schema/plugfest-1.schema.json has them.
#pragma once

#include <nlohmann/json.hpp>

#include "plugfest/cell.hpp"
#include "plugfest/event.hpp"
#include "plugfest/journal.hpp"
#include "plugfest/record.hpp"

namespace plugfest {

[[nodiscard]] nlohmann::json to_json(const Outcome& outcome);
/// What is said of the event itself.
[[nodiscard]] nlohmann::json to_json(const Event& event);

[[nodiscard]] Tally tally(const Event& event, const std::vector<Cell>& cells,
                          const Journal& journal);
/// The whole document.
[[nodiscard]] nlohmann::json document(const Event& event, const std::vector<Cell>& cells,
                                      const Journal& journal, bool complete);

}  // namespace plugfest
