// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the table of scenarios is made of.
#pragma once

#include "plugfest/scenarios/stage.hpp"

namespace plugfest::plays {

// -- startup.cpp --
void revision(Stage& stage, int revision);
void peer_to_peer(Stage& stage, const char* rtr);
/// Both sides ask for it, or both do not.
void crc(Stage& stage, bool wanted);
void markers(Stage& stage);
void depths(Stage& stage);

// -- private_data.cpp --
void private_data(Stage& stage);
void reject(Stage& stage, bool with_private_data);

// -- many.cpp --
/// So many at a time.
void many_connections(Stage& stage, std::size_t count);
void connect_storm(Stage& stage);
void both_at_once(Stage& stage);
void traffic_both_ways(Stage& stage);
void mixed_traffic(Stage& stage);

// -- transfers.cpp --
void sends(Stage& stage, const char* operation);
void writes(Stage& stage);
void reads(Stage& stage);
void mebibyte(Stage& stage, bool by_reading);
void gibibyte(Stage& stage, bool by_reading);
void shared_queue(Stage& stage);
void immediate(Stage& stage);
void atomics(Stage& stage);

// -- invalidation.cpp --
void invalidate(Stage& stage, bool solicited);
void use_after_invalidation(Stage& stage);

// -- errors.cpp --
void write_to_bad_stag(Stage& stage, Side by);
void read_from_bad_stag(Stage& stage, Side by);
void write_without_right(Stage& stage);

// -- close.cpp --
void ending(Stage& stage, Side by, bool abortive);

}  // namespace plugfest::plays
