// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Runs the cells of an event that have no result yet, in the order of the schedule, each in a
// worker process.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "plugfest/cell.hpp"
#include "plugfest/cell_messages.hpp"
#include "plugfest/journal.hpp"
#include "suite/jobs/progress.hpp"
#include "suite/jobs/schedule.hpp"

namespace plugfest {

struct RunOptions {
  /// The task of a worker for the cell in this slot.
  std::function<Task(const Cell& cell, std::size_t slot, int attempt)> task;
  std::size_t slots = 1;
  /// For each host: the number of cells that it may be in at the same time.
  std::vector<int> capacity;
  /// The time limit of a cell, after which its worker is ended.
  std::function<std::chrono::milliseconds(const Cell&)> time_limit;
  /// Whether a cell is played although it has a result.
  std::function<bool(const Cell&)> rerun = [](const Cell&) { return false; };
  /// Whether a cell that has just ended is played again, when all others have been started.
  std::function<bool(const Cell&)> repeat = [](const Cell&) { return false; };
  /// Whether a host that has cells to play, and is in none, cannot play them yet, such as a guest
  /// that boots. Asked whenever cells may start, and every now and then while the answer is yes.
  std::function<bool(std::size_t host)> away = [](std::size_t) { return false; };
  /// Whether participants have come who are to play: then no further cell is started. Asked whenever
  /// cells may start.
  std::function<bool()> others_come = [] { return false; };
  /// Hosts, by their names, that have answered while this program played before: if one is down now,
  /// it is set aside.
  std::set<std::string> met;
  /// Until a host whose agent does not start is tried again, the first time.
  std::chrono::milliseconds pause{5000};
  /// Adds to the outcome of a cell that has just ended what only this process knows.
  std::function<void(const Cell&, Outcome& outcome)> complete = [](const Cell&, Outcome&) {};
  /// What the event's expectations say about a cell that has come out so.
  std::function<suite::jobs::Progress::Note(const CellOutline& cell)> note =
      [](const CellOutline&) { return suite::jobs::Progress::Note::none; };
};

enum class RunEnd {
  complete,     ///< all cells have a result
  interrupted,  ///< by SIGINT or SIGTERM
  others_come,
};
/// The error is one line.
[[nodiscard]] std::expected<RunEnd, std::string> run_cells(const std::vector<Cell>& cells,
                                                           Journal& journal,
                                                           const RunOptions& options,
                                                           suite::jobs::Progress& progress);

/// Cells that run_cells would play.
[[nodiscard]] std::vector<Cell> still_to_play(const std::vector<Cell>& cells,
                                              const Journal& journal, const RunOptions& options);

/// The cell as the schedule sees it.
[[nodiscard]] suite::jobs::Job job_of(const Cell& cell, std::size_t number);

}  // namespace plugfest
