// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The journal of a run, results.ndjson, as it is read: line by line as verdicts fell, over all the
// sessions in which the program worked on the run.
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

/// Reads a journal. A torn end, as a power loss leaves it, is left out; a line in the middle that is
/// none is an error.
[[nodiscard]] Result<Journal> read_journal(const std::filesystem::path& file);

}  // namespace suite::results
