// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The journal of an event: a run whose cases are cells (suite/results/run_folder.hpp). It is read and
// added to, so that a run that was killed continues where it stopped.
#pragma once

#include <expected>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "plugfest/record.hpp"
#include "suite/results/run_folder.hpp"

namespace plugfest {

class Journal {
 public:
  /// Makes the folder and the journal, or continues an earlier one of the event of that name. What
  /// was played with a participant that is another one now (by its digest) is kept, and does not
  /// count. The error is one line.
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
  /// Ends the journal and writes the document.
  [[nodiscard]] std::expected<void, std::string> end(const Document& document);
  /// The folder that all files of the run are in.
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  explicit Journal(suite::results::RunFolder folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::expected<void, std::string> take_up(const EventRecord& event);
  [[nodiscard]] std::expected<void, std::string> append(const JournalLine& line);
  void remember(CellRecord record, bool holds);

  suite::results::RunFolder folder_;
  std::vector<CellRecord> records_;
  std::map<std::string, std::size_t> latest_;
  std::map<std::string, int> attempts_;  ///< how many, whether they count or not
};

}  // namespace plugfest
