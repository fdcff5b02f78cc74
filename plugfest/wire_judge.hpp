// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a cell's capture shows: broken rules with the side that broke them, the decoded exchange,
// and whether startup had the result that the scenario needs.
#pragma once

#include <span>

#include "dissectors/capture/frame.hpp"
#include "plugfest/cell_traffic.hpp"
#include "plugfest/scenarios/scenario_run.hpp"
#include "plugfest/verdict.hpp"

namespace plugfest {

struct WireQuery {
  dissectors::capture::LinkType link = dissectors::capture::LinkType::ethernet;
  CellTraffic cell;
  WireExpectation expectation;
  bool played_to_the_end = true;  ///< otherwise nothing is demanded that may not have happened
};

/// Adds to the outcome's findings, wire and checks.
void judge_wire(std::span<const dissectors::capture::Frame> frames, const WireQuery& query,
                Outcome& outcome);

}  // namespace plugfest
