// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads the journal of a run, results.ndjson, with one line for each verdict, over all sessions in
// which the program worked on the run.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "suite/results/record.hpp"

namespace suite::results {

/// One line for people: what could not be done with which file, and why.
using Problem = std::string;
template <typename Value>
using Result = std::expected<Value, Problem>;

inline constexpr const char* journal_name = "results.ndjson";
inline constexpr const char* document_name = "results.json";

struct Journal {
  Document document;  ///< with its summary; the ending is `killed` where the last session has none
  std::vector<std::size_t> sessions;  ///< of each record of the document: which session made it
  std::uint64_t whole = 0;            ///< octets up to the end of the last whole line
};

/// Reads a journal. A torn line at the end, as after a power loss, is left out; an invalid line in
/// the middle is an error.
[[nodiscard]] Result<Journal> read_journal(const std::filesystem::path& file);

/// Whether a run of ours is in this folder.
[[nodiscard]] bool holds_a_run(const std::filesystem::path& folder);

}  // namespace suite::results
