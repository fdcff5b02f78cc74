// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A session of the DAT API: what the consumer calls, step by step. Plain values, so that it can be
// drawn, shortened, written and played again.
//
// A step names its objects by places. One whose place is empty, or taken, does nothing: so any steps
// may be left out, and what remains is a session.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/record/table.hpp"

namespace suite::sessions::dat {

using base::record::name;

/// What a step does (actions.def).
enum class Action : std::uint8_t {
#define DAT_ACTION(name, meaning) name,
#include "suite/sessions/dat/actions.def"
#undef DAT_ACTION
};
constexpr auto names_of(Action) {
  return std::to_array<const char*>({
#define DAT_ACTION(name, meaning) #name,
#include "suite/sessions/dat/actions.def"
#undef DAT_ACTION
  });
}
/// What `object`, `other` and the other members of a step mean, in the order of the actions.
constexpr auto meanings_of_members() {
  return std::to_array<const char*>({
#define DAT_ACTION(name, meaning) meaning,
#include "suite/sessions/dat/actions.def"
#undef DAT_ACTION
  });
}

/// What is wrong in a step.
enum class Wrong : std::uint8_t {
  nothing,
  negative_count,     ///< of segments
  too_many_segments,  ///< one more than the object takes
  flags,              ///< that no header defines
  unsignalled,        ///< where the endpoint is not set up for it
  before_start,       ///< an octet before the region
  beyond_end,         ///< an octet beyond it
  after_end,          ///< all of it
  another_zone,
  no_privilege,
  freed,      ///< the context of a region or window that is no more
  former,     ///< a context of the window before it was bound anew
  too_short,  ///< the sink of a transfer
  too_long,   ///< a message for its receive
  fields,     ///< a mask that names nothing
  // ... of what the peer has
  peer_before_start,
  peer_beyond_end,
  peer_another_zone,
  peer_no_privilege,
  peer_freed,
};
constexpr auto names_of(Wrong) {
  return std::array{"nothing",
                    "negative_count",
                    "too_many_segments",
                    "flags",
                    "unsignalled",
                    "before_start",
                    "beyond_end",
                    "after_end",
                    "another_zone",
                    "no_privilege",
                    "freed",
                    "former",
                    "too_short",
                    "too_long",
                    "fields",
                    "peer_before_start",
                    "peer_beyond_end",
                    "peer_another_zone",
                    "peer_no_privilege",
                    "peer_freed"};
}

struct Step {
  Action action{};
  std::uint32_t object = 0, other = 0, third = 0;
  std::int64_t number = 0;
  std::uint32_t offset = 0, segments = 1, flags = 0, times = 1;
  Wrong wrong{};
  /// Steps that follow one another and have lanes are played at the same time, a thread for each
  /// lane. 0: alone.
  std::uint32_t lane = 0;
  friend bool operator==(const Step&, const Step&) = default;
};

/// What `flags` are in a script that leaves them out: all privileges, all streams that an endpoint
/// feeds and software events.
constexpr std::uint32_t usual_flags(Action action) {
  return action == Action::make_region ? 0x33 : action == Action::make_dispatcher ? 0xE1 : 0;
}

struct Session {
  std::uint64_t seed = 0;
  std::vector<Step> steps;
};

// How many places there are.
inline constexpr std::uint32_t zone_places = 4, region_places = 8, window_places = 4,
                               dispatcher_places = 20, notifier_places = 2, queue_places = 2,
                               endpoint_places = 8;

constexpr auto table_of(const Step*) {
  using base::record::defaulted;
  return base::record::table("step", base::record::required("action", &Step::action),
                             defaulted("object", &Step::object), defaulted("other", &Step::other),
                             defaulted("third", &Step::third), defaulted("number", &Step::number),
                             defaulted("offset", &Step::offset),
                             defaulted("segments", &Step::segments),
                             defaulted("flags", &Step::flags), defaulted("times", &Step::times),
                             defaulted("wrong", &Step::wrong), defaulted("lane", &Step::lane));
}
constexpr auto table_of(const Session*) {
  return base::record::table("session", base::record::defaulted("seed", &Session::seed),
                             base::record::required("steps", &Session::steps));
}

}  // namespace suite::sessions::dat
