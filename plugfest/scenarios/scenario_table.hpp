// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The functions of the table of scenarios.
#pragma once

#include "plugfest/scenarios/scenario_run.hpp"

namespace plugfest::scenario_table {

// -- startup.cpp --
void revision(ScenarioRun& run, int revision);
void peer_to_peer(ScenarioRun& run, const char* rtr);
/// Both sides ask for it, or both do not.
void crc(ScenarioRun& run, bool wanted);
void markers(ScenarioRun& run);
void depths(ScenarioRun& run);

// -- private_data.cpp --
void private_data(ScenarioRun& run);
void reject(ScenarioRun& run, bool with_private_data);

// -- many.cpp --
/// `count` connections at the same time.
void many_connections(ScenarioRun& run, std::size_t count);
void connect_storm(ScenarioRun& run);
void both_at_once(ScenarioRun& run);
void traffic_both_ways(ScenarioRun& run);
void mixed_traffic(ScenarioRun& run);

// -- transfers.cpp --
void sends(ScenarioRun& run, const char* operation);
void writes(ScenarioRun& run);
void reads(ScenarioRun& run);
void mebibyte(ScenarioRun& run, bool by_reading);
void gibibyte(ScenarioRun& run, bool by_reading);
void shared_queue(ScenarioRun& run);
void immediate(ScenarioRun& run);
void atomics(ScenarioRun& run);

// -- invalidation.cpp --
void invalidate(ScenarioRun& run, bool solicited);
void use_after_invalidation(ScenarioRun& run);

// -- errors.cpp --
void write_to_bad_stag(ScenarioRun& run, Side by);
void read_from_bad_stag(ScenarioRun& run, Side by);
void write_without_right(ScenarioRun& run);

// -- close.cpp --
void ending(ScenarioRun& run, Side by, bool abortive);

}  // namespace plugfest::scenario_table
