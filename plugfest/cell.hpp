// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The unit of work of a plugfest: one initiator, one responder, one scenario, one repetition.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "plugfest/event.hpp"

namespace plugfest {

struct Cell {
  std::string id;  ///< `INITIATOR/RESPONDER/SCENARIO#REPEAT`, the same in every run of the event
  std::size_t initiator = 0, responder = 0;  ///< places in the event's participants
  std::string initiator_name, responder_name, scenario;
  int repeat = 1;
  double length = 1;  ///< its likely duration in seconds
};

/// All cells of the event, pair by pair. `length` says how long a scenario is likely to take.
[[nodiscard]] std::vector<Cell> cells_of(const Event& event,
                                         const std::function<double(std::string_view)>& length);

/// How many there are before any is left out.
[[nodiscard]] std::size_t count_of_all(const Event& event);

/// An event with more is refused: nobody has the days that these take, and a mistake, such as too many
/// repeats, looks like this.
inline constexpr std::size_t most_cells = 200'000;
[[nodiscard]] std::string too_many_cells(std::size_t count);

/// A cell that the event leaves out, and why.
struct LeftOut {
  Cell cell;
  std::string reason;
};
[[nodiscard]] std::vector<LeftOut> left_out_of(const Event& event);

/// Whether a cell id fits a glob; `*` matches slashes, and `#1` may be left out.
[[nodiscard]] bool fits(const std::string& glob, const std::string& cell);

}  // namespace plugfest
