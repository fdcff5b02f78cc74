// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The results as reports/schema/plugfest-1.schema.json has them.
#pragma once

#include <nlohmann/json.hpp>

#include "plugfest/cell.hpp"
#include "plugfest/event.hpp"
#include "plugfest/journal.hpp"
#include "plugfest/verdict.hpp"

namespace plugfest {

[[nodiscard]] nlohmann::json to_json(const Outcome& outcome);
/// What is said of the event itself.
[[nodiscard]] nlohmann::json to_json(const Event& event);

/// How a run compares with what was expected of it.
struct Tally {
  std::map<std::string, std::size_t> verdicts;  ///< of the cells of this event
  std::size_t cells = 0, played = 0;
  std::vector<std::string> news;   ///< cells whose verdict is bad and not expected
  std::vector<std::string> stale;  ///< expectations that hold for no cell, one line each
};
[[nodiscard]] Tally tally(const Event& event, const std::vector<Cell>& cells,
                          const Journal& journal);
/// The whole document.
[[nodiscard]] nlohmann::json document(const Event& event, const std::vector<Cell>& cells,
                                      const Journal& journal, bool complete);

}  // namespace plugfest
