// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The journal of an event: a run whose cases are cells (suite/results/run_folder.hpp). It is read and
// added to, so that a run that was killed continues where it stopped. It may have gigabytes: no more
// than one record of it is in memory at a time.
#pragma once

#include <expected>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
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
  [[nodiscard]] const std::vector<CellOutline>& attempts() const { return attempts_; }
  /// The last attempt at a cell that has one.
  [[nodiscard]] const CellOutline& latest(const std::string& cell) const {
    return attempts_[latest_.at(cell)];
  }
  /// Participants whose agents have answered since then, in UTC.
  [[nodiscard]] std::set<std::string> met_since(const std::string& then) const;
  /// Adds an attempt, condensed (condense.hpp); when this returns it is on the disk.
  [[nodiscard]] std::expected<void, std::string> add(CellRecord record);
  /// Ends the journal and writes the document, whose cells are read from the journal again, one by
  /// one: `listed` makes them of their records and outlines.
  [[nodiscard]] std::expected<void, std::string> end(
      const Document& document,
      const std::function<ListedCell(CellRecord, const CellOutline&)>& listed);
  /// The folder that all files of the run are in.
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  explicit Journal(suite::results::RunFolder folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::expected<void, std::string> take_up(const EventRecord& event);
  [[nodiscard]] std::expected<suite::results::LinePlace, std::string> append(
      const JournalLine& line);
  void remember(const CellRecord& record, const suite::results::LinePlace& place, bool holds);

  suite::results::RunFolder folder_;
  std::vector<CellOutline> attempts_;
  std::map<std::string, std::size_t> latest_;
  std::map<std::string, int> counts_;       ///< of attempts, whether they count or not
  std::map<std::string, std::string> met_;  ///< by participant: the start of the last cell in which
                                            ///< its agent answered
};

}  // namespace plugfest
