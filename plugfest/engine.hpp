// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The engine `local`: runs the cells of an event that have no result yet on this machine, each in a
// process of its own, as the scheduler says.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <vector>

#include "plugfest/cell.hpp"
#include "plugfest/journal.hpp"
#include "plugfest/progress.hpp"

namespace plugfest {

/// Plays a cell, in a forked process, in the place of this slot; returns its record, to which the
/// engine adds id, roles, scenario, repetition and attempt.
using CellWork = std::function<nlohmann::json(const Cell& cell, std::size_t slot, int attempt)>;

struct EngineOptions {
  std::size_t slots = 1;
  std::vector<int> capacity;  ///< of each host
  std::chrono::milliseconds deadline = std::chrono::seconds(30);
  /// Attempts at cells that have a result already.
  std::function<bool(const Cell&)> again = [](const Cell&) { return false; };
  std::function<bool()> interrupted = [] { return false; };
  /// Of a cell, beyond the deadline.
  std::function<std::chrono::milliseconds(const Cell&)> extra = [](const Cell&) {
    return std::chrono::milliseconds(0);
  };
  /// Whether a host that has cells to play, and is in none, cannot play them yet, such as a guest
  /// that boots. Asked whenever cells may start, and every now and then while the answer is yes.
  std::function<bool(std::size_t host)> away = [](std::size_t) { return false; };
  /// Called in the engine's own process when a cell's record is there.
  std::function<void(const Cell&, nlohmann::json& record)> after = [](const Cell&,
                                                                      nlohmann::json&) {};
};

/// Whether all cells have a result now (false: interrupted). The error is one line.
[[nodiscard]] std::expected<bool, std::string> run_cells(const std::vector<Cell>& cells,
                                                         Journal& journal, const CellWork& work,
                                                         const EngineOptions& options,
                                                         Progress* progress = nullptr);

/// Cells that run_cells would play.
[[nodiscard]] std::vector<Cell> still_to_play(const std::vector<Cell>& cells,
                                              const Journal& journal, const EngineOptions& options);

}  // namespace plugfest
