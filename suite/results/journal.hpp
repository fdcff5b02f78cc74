// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads the journal of a run, results.ndjson, with one line for each verdict, over all sessions in
// which the program worked on the run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "suite/results/record.hpp"
#include "suite/results/run_folder.hpp"

namespace suite::results {

struct Journal {
  Document document;  ///< with its summary; the ending is `killed` where the last session has none
  std::vector<std::size_t> sessions;  ///< of each record of the document: which session made it
  std::uint64_t whole = 0;            ///< octets up to the end of the last whole line
};

/// Reads a journal. A torn line at the end, as after a power loss, is left out; an invalid line in
/// the middle is an error.
[[nodiscard]] Result<Journal> read_journal(const std::filesystem::path& file);

}  // namespace suite::results
