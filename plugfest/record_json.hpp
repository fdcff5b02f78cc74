// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The records of an event, and its results in the form of reports/schema/plugfest-2.schema.json.
#pragma once

#include "plugfest/cell.hpp"
#include "plugfest/event.hpp"
#include "plugfest/journal.hpp"
#include "plugfest/record.hpp"

namespace plugfest {

/// The record of the event itself.
[[nodiscard]] EventRecord record_of(const Event& event);

[[nodiscard]] Tally tally(const Event& event, const std::vector<Cell>& cells,
                          const Journal& journal);
/// The whole document.
[[nodiscard]] Document document(const Event& event, const std::vector<Cell>& cells,
                                const Journal& journal, bool complete);

}  // namespace plugfest
