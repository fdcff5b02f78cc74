// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The table of scenarios: name, what the agents must be able to do, and the function that plays it.
#pragma once

#include <chrono>
#include <span>
#include <string_view>
#include <vector>

#include "plugfest/event.hpp"
#include "plugfest/scenarios/scenario_run.hpp"

namespace plugfest {

using Capabilities = std::vector<std::string_view>;

struct Scenario {
  std::string_view name;              ///< stable
  std::string_view title;             ///< what both sides have to do
  double length = 1;                  ///< seconds that it is likely to take
  Capabilities initiator, responder;  ///< words of the agents' hellos
  void (*play)(ScenarioRun&) = nullptr;
  std::chrono::seconds deadline{0}, step_timeout{0};  ///< minimum, whatever the event says
  bool on_request = false;                            ///< only with --long
};

[[nodiscard]] std::span<const Scenario> scenarios();
/// The names, in the table's order, with or without those that are only played on request.
[[nodiscard]] std::span<const std::string_view> scenario_names(bool with_long = false);
/// nullptr if there is none of that name.
[[nodiscard]] const Scenario* find_scenario(std::string_view name);
/// How much longer a cell of the scenario may take than the event gives.
[[nodiscard]] std::chrono::seconds extra_time(const Event& event, std::string_view scenario);

}  // namespace plugfest
