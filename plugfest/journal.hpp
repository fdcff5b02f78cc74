// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The results of a run on disk, one cell after another, so that a run that was killed continues
// where it stopped.
//
// `cells.ndjson`: first {"event": {...}}, then {"cell": {...}} for each attempt that ended.
// base/line_file.hpp writes the lines, as for the journal of a run of cases; their contents differ,
// since a run of cases has one IUT and sessions, and an event has neither.
#pragma once

#include <expected>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/line_file.hpp"
#include "plugfest/record.hpp"

namespace plugfest {

class Journal {
 public:
  /// Makes the folder and the file, or continues an earlier one whose event has the same digest.
  /// The error is one line.
  [[nodiscard]] static std::expected<Journal, std::string> open(const std::filesystem::path& folder,
                                                                const EventRecord& event);

  /// Whether a cell has an attempt that ended.
  [[nodiscard]] bool has(const std::string& cell) const { return latest_.contains(cell); }
  [[nodiscard]] int attempts(const std::string& cell) const;
  /// Every attempt, in the order in which they ended.
  [[nodiscard]] const std::vector<CellRecord>& records() const { return records_; }
  /// The last attempt at a cell that has one.
  [[nodiscard]] const CellRecord& latest(const std::string& cell) const {
    return records_[latest_.at(cell)];
  }
  /// Adds an attempt; when this returns it is on the disk.
  [[nodiscard]] std::expected<void, std::string> add(CellRecord record);
  /// The folder that all files of the run are in.
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  Journal() = default;
  [[nodiscard]] std::expected<void, std::string> take_up(base::FileDescriptor file,
                                                         const EventRecord& event);
  [[nodiscard]] std::expected<void, std::string> append(const JournalLine& line);
  void remember(CellRecord record);

  std::filesystem::path folder_;
  base::LineFile file_;
  std::vector<CellRecord> records_;
  std::map<std::string, std::size_t> latest_;
};

/// Writes a file under another name and renames it, so that it is never incomplete.
[[nodiscard]] std::expected<void, std::string> write_whole(const std::filesystem::path& file,
                                                           const std::string& text);

}  // namespace plugfest
