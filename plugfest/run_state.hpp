// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a run is doing at this moment, for those who look on: a file beside its results, replaced
// whenever a cell starts or ends.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/record/table.hpp"

namespace plugfest {

struct PlayingCell {
  std::string cell, since;  ///< UTC
};

struct RunState {
  std::string time;  ///< UTC
  std::vector<PlayingCell> playing;
  /// Cells that have not been started, in the order of the event.
  std::vector<std::string> waiting;
  /// Hosts that are down: they are tried again.
  std::vector<std::string> aside;
  double remaining = 0;  ///< seconds, estimated from what has ended
  bool over = false;
};

inline constexpr const char* state_name = "state.json";
/// More waiting cells than this are not listed.
inline constexpr std::size_t most_waiting = 200;

/// Writes it whole or not at all. A state that cannot be written is no fault of the run.
void write_state(const std::filesystem::path& folder, const RunState& state);

}  // namespace plugfest
