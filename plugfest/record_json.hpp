// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The records of an event, and its results in the form of reports/schema/plugfest-2.schema.json.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "plugfest/cell.hpp"
#include "plugfest/event.hpp"
#include "plugfest/journal.hpp"
#include "plugfest/record.hpp"

namespace plugfest {

/// The record of the event itself.
[[nodiscard]] EventRecord record_of(const Event& event);

[[nodiscard]] Tally tally(const Event& event, const std::vector<Cell>& cells,
                          const Journal& journal);
/// Ends the journal and writes the document. Returns what it says of all cells.
[[nodiscard]] std::expected<Tally, std::string> write_document(const Event& event,
                                                               const std::vector<Cell>& cells,
                                                               Journal& journal, bool complete);

}  // namespace plugfest
