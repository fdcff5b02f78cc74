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

// Each with what `object`, `other`, `third` and `number` mean for it.
enum class Action : std::uint8_t {
  make_zone,          // object: zone
  free_zone,          // object: zone
  make_region,        // object: region, other: zone, number: length, flags: privileges
  free_region,        // object: region
  query_region,       // object: region
  sync_memory,        // object: region, offset, number: length, flags: 1 for writes
  make_window,        // object: window, other: zone
  bind_window,        // object: window, other: region, third: endpoint, offset, number: length
  query_window,       // object: window
  free_window,        // object: window
  make_dispatcher,    // object: dispatcher, number: length, flags: streams, other: notifier + 1
  free_dispatcher,    // object: dispatcher
  query_dispatcher,   // object: dispatcher
  resize_dispatcher,  // object: dispatcher, number: length
  post_software,      // object: dispatcher, number: how many
  make_unwaitable,    // object: dispatcher
  make_waitable,      // object: dispatcher
  enable,             // object: dispatcher
  disable,            // object: dispatcher
  wait,               // object: dispatcher, number: threshold
  dequeue,            // object: dispatcher
  wait_blocked,       // object: dispatcher, number: threshold, other: how it ends
  make_notifier,      // object: notifier
  free_notifier,      // object: notifier
  wait_for_notifier,  // object: notifier
  move_dispatcher,    // object: dispatcher, other: notifier + 1
  make_queue,         // object: shared queue, other: zone, number: entries, segments
  free_queue,         // object: shared queue
  query_queue,        // object: shared queue
  resize_queue,       // object: shared queue, number: entries
  set_low_watermark,  // object: shared queue, number: the mark
  receive_shared,     // object: shared queue, other: region, number: length, segments, times
  make_endpoint,      // object: endpoint, other: zone, third: shared queue + 1, number: depth
  free_endpoint,      // object: endpoint
  query_endpoint,     // object: endpoint
  modify_endpoint,    // object: endpoint, other: what, number: to what
  set_watermark,      // object: endpoint, number: the mark
  count_receives,     // object: endpoint
  get_status,         // object: endpoint
  connect,            // object: endpoint, which connects to its neighbour; other: how it ends
  disconnect,         // object: endpoint, flags: 1 abrupt
  reset,              // object: endpoint
  receive,            // object: endpoint, other: region, number: length, segments, times
  send,               // object: endpoint, other: region, number: length, segments, times
  write,              // ... third: the peer's memory, offset
  read,               // ... third: the peer's memory, offset
  set_context,        // object, other: kind of object, number: the context
  get_context,        // object, other: kind of object
  settle,             // all that is owed comes, and memory is compared
};
constexpr auto names_of(Action) {
  return std::array{"make_zone",
                    "free_zone",
                    "make_region",
                    "free_region",
                    "query_region",
                    "sync_memory",
                    "make_window",
                    "bind_window",
                    "query_window",
                    "free_window",
                    "make_dispatcher",
                    "free_dispatcher",
                    "query_dispatcher",
                    "resize_dispatcher",
                    "post_software",
                    "make_unwaitable",
                    "make_waitable",
                    "enable",
                    "disable",
                    "wait",
                    "dequeue",
                    "wait_blocked",
                    "make_notifier",
                    "free_notifier",
                    "wait_for_notifier",
                    "move_dispatcher",
                    "make_queue",
                    "free_queue",
                    "query_queue",
                    "resize_queue",
                    "set_low_watermark",
                    "receive_shared",
                    "make_endpoint",
                    "free_endpoint",
                    "query_endpoint",
                    "modify_endpoint",
                    "set_watermark",
                    "count_receives",
                    "get_status",
                    "connect",
                    "disconnect",
                    "reset",
                    "receive",
                    "send",
                    "write",
                    "read",
                    "set_context",
                    "get_context",
                    "settle"};
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
