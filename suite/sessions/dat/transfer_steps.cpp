// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// DTOs: receives, Sends, RDMA Writes and Reads.
#include <fmt/format.h>

#include <algorithm>

#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/sessions/dat/player.hpp"

namespace suite::sessions::dat {

using dat_case::cookie;

namespace {

unsigned flags_of(const Step& step) {
  if (step.wrong == Wrong::flags) return 0x4000;
  if (step.wrong == Wrong::unsignalled) return DAT_COMPLETION_UNSIGNALLED_FLAG;
  return step.flags & (DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG |
                       DAT_COMPLETION_BARRIER_FENCE_FLAG);
}

std::size_t octets_of(const Step& step) {
  return static_cast<std::size_t>(std::max<std::int64_t>(step.number, 0));
}

bool is_closed(Wrong wrong) {
  return wrong == Wrong::former || wrong >= Wrong::peer_before_start;
}

bool admits_success(const Returns& wanted) {
  return std::ranges::find(wanted.types, DAT_SUCCESS) != wanted.types.end();
}

DAT_COUNT count_of(const Step& step, const std::vector<DAT_LMR_TRIPLET>& triplets) {
  return step.wrong == Wrong::negative_count ? DAT_COUNT{-1}
                                             : static_cast<DAT_COUNT>(triplets.size());
}

/// In a state in which it is refused, what is wrong with it may be the reason as well.
void add_wrong(Returns& wanted, const char*& rule, const std::pair<const char*, Returns>& spoilt,
               bool in_state) {
  if (in_state) {
    std::erase(wanted.types, DAT_SUCCESS);
    rule = spoilt.first;
  }
  wanted.types.insert(wanted.types.end(), spoilt.second.types.begin(), spoilt.second.types.end());
  wanted.tolerated.insert(wanted.tolerated.end(), spoilt.second.tolerated.begin(),
                          spoilt.second.tolerated.end());
  if (!in_state) std::erase(wanted.types, DAT_SUCCESS);
}

}  // namespace

// ---------------------------------------------------------------- receives

void Player::receive(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % endpoint_places;
  Endpoint& endpoint = model_.endpoints[at];
  for (std::uint32_t i = 0; i < std::max(step.times, 1U); ++i) {
    if (endpoint.handle == DAT_HANDLE_NULL || !make_room(turn, endpoint.receives_to, 1)) return;
    const std::uint64_t hold = model_.next_hold();
    auto segments = segments_for(step, endpoint.zone, octets_of(step),
                                 static_cast<std::size_t>(endpoint.attributes.max_recv_iov), true,
                                 hold);
    if (!segments) return;
    const auto spoilt = spoil(step, *segments, endpoint.zone, true, "ep-post-recv",
                              endpoint.attributes.max_recv_iov);
    if (step.wrong != Wrong::nothing && !spoilt) return model_.release(hold);
    ++played_;
    const DAT_COUNT most = endpoint.attributes.max_recv_dtos;
    const bool full = model_.receives_at_least(endpoint) >= most;
    const char* rule =
        full ? "dat.ep-post-recv.insufficient-resources" : "dat.ep-post-recv.success";
    Returns wanted = full ? returns(DAT_INSUFFICIENT_RESOURCES).or_tolerably(DAT_SUCCESS) : succeeds;
    if (!full && static_cast<DAT_COUNT>(endpoint.receives.size()) >= most)
      wanted.types.push_back(DAT_INSUFFICIENT_RESOURCES);
    if (endpoint.queue) {
      rule = "dat.ep-create-with-srq.receive";
      wanted = returns_one_of({DAT_INVALID_PARAMETER, DAT_INVALID_HANDLE, DAT_INVALID_STATE});
      if (spoilt) wanted.types.push_back(spoilt->second.types.front());
    } else if (spoilt) {
      add_wrong(wanted, rule, *spoilt, true);
    }
    Receive posted{.cookie = model_.next_cookie(),
                   .segments = segments->ranges,
                   .room = 0,
                   .hold = hold,
                   .late = endpoint.phase == Phase::disconnected};
    for (const Range& range : posted.segments) posted.room += range.length;
    const bool may_succeed = (admits_success(wanted) || full) && !spoilt && !endpoint.queue;
    if (may_succeed) {
      endpoint.receives.push_back(posted);
      model_.check_watermark(endpoint);
    }
    const DAT_RETURN got = call(turn, [&] {
      return CALL(dat_ep_post_recv, endpoint.handle, count_of(step, segments->triplets),
                  segments->triplets.empty() ? nullptr : segments->triplets.data(),
                  cookie(posted.cookie), static_cast<DAT_COMPLETION_FLAGS>(flags_of(step) & ~0xBU));
    });
    if (expect(rule, got, wanted)) {
      blame(posted.segments, "dat.ep-post-recv.success");
      continue;
    }
    if (may_succeed) {
      std::erase_if(endpoint.receives,
                    [&](const Receive& one) { return one.cookie == posted.cookie; });
      for (OwedAsync& owed : model_.async)
        if (owed.handle == endpoint.handle) owed.certain = false;
    }
    model_.release(hold);
  }
}

// ---------------------------------------------------------------- Sends

/// What the next message to this endpoint finds.
struct Player::Posting {
  bool possible = false;
  std::size_t room = 0;
};

void Player::send(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % endpoint_places;
  Endpoint& endpoint = model_.endpoints[at];
  const auto next_receive = [&] {
    Posting next;
    if (!endpoint.peer) return next;
    const Endpoint& peer = model_.endpoints[*endpoint.peer];
    if (peer.phase != Phase::connected && peer.phase != Phase::ending) return next;
    if (!peer.queue) {
      next.possible = peer.receives.size() > peer.incoming.size();
      if (next.possible) next.room = peer.receives[peer.incoming.size()].room;
      return next;
    }
    const SharedQueue& queue = model_.queues[*peer.queue];
    next.possible =
        static_cast<DAT_COUNT>(queue.receives.size()) - queue.taken - queue.maybe_taken > 0;
    for (const Receive& one : queue.receives)
      next.room = &one == &queue.receives.front() ? one.room : std::min(next.room, one.room);
    return next;
  };
  for (std::uint32_t i = 0; i < std::max(step.times, 1U); ++i) {
    if (endpoint.handle == DAT_HANDLE_NULL || !make_room(turn, endpoint.requests_to, 1)) return;
    const bool too_long = step.wrong == Wrong::too_long;
    if (too_long && (turn.lane != 0 || endpoint.phase != Phase::connected)) return;
    if (too_long) settle(turn);
    const bool to_peer = endpoint.peer && (endpoint.phase == Phase::connected ||
                                           (endpoint.phase == Phase::ending && !endpoint.ended_it));
    if (to_peer && !make_room(turn, model_.endpoints[*endpoint.peer].receives_to, 1)) return;
    const Posting next = next_receive();
    const bool is_connected = endpoint.phase == Phase::connected;
    const bool arrives = to_peer && next.possible;
    // A message without a receive is another story.
    if (is_connected && !arrives) return;
    if (too_long && model_.endpoints[*endpoint.peer].queue) return;
    const std::size_t length = too_long  ? next.room + 1
                               : arrives ? std::min(octets_of(step), next.room)
                                         : octets_of(step);
    const std::uint64_t hold = model_.next_hold();
    auto segments = segments_for(step, endpoint.zone, length,
                                 static_cast<std::size_t>(endpoint.attributes.max_request_iov),
                                 false, hold);
    if (!segments) return;
    const auto spoilt = spoil(step, *segments, endpoint.zone, false, "ep-post-send",
                              endpoint.attributes.max_request_iov);
    if (step.wrong != Wrong::nothing && !too_long && !spoilt) return model_.release(hold);
    ++played_;
    Returns wanted = of_a_request(endpoint);
    const char* rule = endpoint.phase == Phase::unconnected ? "dat.ep-post-send.invalid-state"
                                                            : "dat.ep-post-send.success";
    if (spoilt)
      add_wrong(wanted, rule, *spoilt, is_connected || endpoint.phase == Phase::disconnected);
    const bool may_succeed = admits_success(wanted);
    Request request{.cookie = model_.next_cookie(), .kind = Kind::send};
    request.statuses = of_a_request_posted(endpoint);
    request.length = length;
    request.suppressed = (flags_of(step) & DAT_COMPLETION_SUPPRESS_FLAG) != 0;
    request.hold = hold;
    const auto peer = endpoint.peer;
    if (may_succeed) {
      if (too_long) model_.breaks(at);
      if (too_long) request.statuses = success | any_failure;
      endpoint.requests.push_back(request);
      if (arrives) {
        Message message{.octets = model_.gather(segments->ranges), .statuses = request.statuses};
        if (too_long) {
          message.statuses = one(DAT_DTO_ERR_LOCAL_LENGTH);
          message.rule = "dat.ep-post-recv.too-small";
        }
        model_.arrives(*peer, std::move(message));
      }
    }
    const DAT_RETURN got = call(turn, [&] {
      return CALL(dat_ep_post_send, endpoint.handle, count_of(step, segments->triplets),
                  segments->triplets.empty() ? nullptr : segments->triplets.data(),
                  cookie(request.cookie), static_cast<DAT_COMPLETION_FLAGS>(flags_of(step)));
    });
    if (expect(rule, got, wanted)) continue;
    if (too_long) throw Finding{{"dat.ep-post-send.success", "DAT_SUCCESS", "a refusal", true}};
    if (may_succeed) {
      std::erase_if(endpoint.requests,
                    [&](const Request& one) { return one.cookie == request.cookie; });
      if (arrives) model_.retract_message(*peer);
    }
    model_.release(hold);
    return;
  }
}

// ---------------------------------------------------------------- RDMA

void Player::write(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % endpoint_places;
  Endpoint& endpoint = model_.endpoints[at];
  for (std::uint32_t i = 0; i < std::max(step.times, 1U); ++i) {
    const bool closed = is_closed(step.wrong);
    if (closed && (turn.lane != 0 || endpoint.phase != Phase::connected)) return;
    if (closed) settle(turn);
    if (endpoint.handle == DAT_HANDLE_NULL || !make_room(turn, endpoint.requests_to, 1)) return;
    const std::size_t length = octets_of(step);
    if ((closed || step.wrong == Wrong::too_short) && length == 0) return;
    const std::uint64_t hold = model_.next_hold();
    auto segments = segments_for(step, endpoint.zone, length,
                                 static_cast<std::size_t>(endpoint.attributes.max_rdma_write_iov),
                                 false, hold);
    if (!segments) return;
    auto remote = closed ? closed_remote(step, endpoint, length, DAT_MEM_PRIV_REMOTE_WRITE_FLAG)
                         : remote_for(step, endpoint, length, DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
    const bool too_short = step.wrong == Wrong::too_short;
    auto spoilt = spoil(step, *segments, endpoint.zone, false, "ep-post-rdma-write",
                        endpoint.attributes.max_rdma_write_iov);
    if (too_short) spoilt = std::pair{"dat.ep-post-rdma-write.length", returns(DAT_LENGTH_ERROR)};
    if (!remote || (step.wrong != Wrong::nothing && !closed && !spoilt))
      return model_.release(hold);
    if (too_short) --remote->triplet.segment_length;
    ++played_;
    const bool in_state =
        endpoint.phase == Phase::connected || endpoint.phase == Phase::disconnected;
    Returns wanted = of_a_request(endpoint);
    const char* rule = endpoint.phase == Phase::unconnected ? "dat.ep-post-rdma-write.invalid-state"
                                                            : "dat.ep-post-rdma-write.success";
    if (spoilt) add_wrong(wanted, rule, *spoilt, in_state);
    if (closed) {
      rule = remote->closed;
      wanted = wanted.or_tolerably(DAT_PROTECTION_VIOLATION).or_tolerably(DAT_PRIVILEGES_VIOLATION);
    }
    const bool may_succeed = admits_success(wanted);
    Request request{.cookie = model_.next_cookie(), .kind = Kind::write};
    request.statuses = of_a_request_posted(endpoint);
    request.length = length;
    request.suppressed = (flags_of(step) & DAT_COMPLETION_SUPPRESS_FLAG) != 0 && !closed;
    request.hold = hold;
    const std::uint64_t target = model_.next_hold();
    const bool places = may_succeed && !closed && length > 0 &&
                        request.statuses.has(DAT_DTO_SUCCESS);
    if (places)
      model_.places({.writer = at,
                     .hold = target,
                     .range = remote->range,
                     .octets = model_.gather(segments->ranges),
                     .certain = endpoint.phase == Phase::connected});
    if (may_succeed && closed) {
      model_.breaks(at);
      request.statuses = success | any_failure;  // D30
      request.rule = remote->closed;
    }
    if (may_succeed) endpoint.requests.push_back(request);
    const unsigned flags = closed ? 0 : flags_of(step);
    const DAT_RETURN got = call(turn, [&] {
      return CALL(dat_ep_post_rdma_write, endpoint.handle, count_of(step, segments->triplets),
                  segments->triplets.empty() ? nullptr : segments->triplets.data(),
                  cookie(request.cookie), &remote->triplet,
                  static_cast<DAT_COMPLETION_FLAGS>(flags));
    });
    if (expect(rule, got, wanted)) {
      if (places) blame({remote->range}, "dat.ep-post-rdma-write.success");
      if (closed) return settle(turn);
      continue;
    }
    if (closed) throw Finding{{remote->closed, "DAT_SUCCESS", "a refusal", true}};
    if (may_succeed)
      std::erase_if(endpoint.requests,
                    [&](const Request& one) { return one.cookie == request.cookie; });
    if (places) model_.retract_write(target);
    return model_.release(hold);
  }
}

void Player::read(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % endpoint_places;
  Endpoint& endpoint = model_.endpoints[at];
  for (std::uint32_t i = 0; i < std::max(step.times, 1U); ++i) {
    const bool closed = is_closed(step.wrong);
    if (closed && (turn.lane != 0 || endpoint.phase != Phase::connected)) return;
    if (closed) settle(turn);
    if (endpoint.handle == DAT_HANDLE_NULL || !make_room(turn, endpoint.requests_to, 1)) return;
    const std::size_t length = octets_of(step);
    const bool too_short = step.wrong == Wrong::too_short;
    if ((closed || too_short) && length == 0) return;
    // A sink may be longer than its source.
    const std::size_t room = length > 0 && step.offset % 3 == 2 ? length + 5 : length;
    const std::uint64_t hold = model_.next_hold();
    auto segments = segments_for(step, endpoint.zone, room,
                                 static_cast<std::size_t>(endpoint.attributes.max_rdma_read_iov),
                                 true, hold);
    if (!segments) return;
    const std::size_t asked = too_short ? room + 1 : length;
    auto remote = closed ? closed_remote(step, endpoint, length, DAT_MEM_PRIV_REMOTE_READ_FLAG)
                         : remote_for(step, endpoint, asked, DAT_MEM_PRIV_REMOTE_READ_FLAG);
    auto spoilt = spoil(step, *segments, endpoint.zone, true, "ep-post-rdma-read",
                        endpoint.attributes.max_rdma_read_iov);
    if (too_short) spoilt = std::pair{"dat.ep-post-rdma-read.length", returns(DAT_LENGTH_ERROR)};
    if (!remote || (step.wrong != Wrong::nothing && !closed && !spoilt))
      return model_.release(hold);
    ++played_;
    const bool in_state =
        endpoint.phase == Phase::connected || endpoint.phase == Phase::disconnected;
    Returns wanted = of_a_request(endpoint);
    const char* rule = endpoint.phase == Phase::unconnected ? "dat.ep-post-rdma-read.invalid-state"
                                                            : "dat.ep-post-rdma-read.success";
    if (spoilt) add_wrong(wanted, rule, *spoilt, in_state);
    if (closed) {
      rule = remote->closed;
      wanted = wanted.or_tolerably(DAT_PROTECTION_VIOLATION).or_tolerably(DAT_PRIVILEGES_VIOLATION);
    }
    const bool may_succeed = admits_success(wanted);
    Request request{.cookie = model_.next_cookie(), .kind = Kind::read};
    request.statuses = of_a_request_posted(endpoint);
    request.length = length;
    request.suppressed = (flags_of(step) & DAT_COMPLETION_SUPPRESS_FLAG) != 0 && !closed;
    request.hold = hold;
    if (request.statuses.has(DAT_DTO_SUCCESS)) request.sink = segments->ranges;
    if (may_succeed && !closed && length > 0) {
      request.octets = model_.gather({remote->range});
      model_.hold({remote->range}, hold, false);
    }
    if (may_succeed && closed) {
      model_.breaks(at);
      request.statuses = any_failure;
      request.rule = remote->closed;
    }
    if (may_succeed) {
      for (const Range& range : request.sink)
        for (Hold& one : model_.memories[range.region].used)
          if (one.id == hold && one.offset == range.offset) one.changing = true;
      endpoint.requests.push_back(request);
    }
    const unsigned flags = closed ? 0 : flags_of(step);
    const DAT_RETURN got = call(turn, [&] {
      return CALL(dat_ep_post_rdma_read, endpoint.handle, count_of(step, segments->triplets),
                  segments->triplets.empty() ? nullptr : segments->triplets.data(),
                  cookie(request.cookie), &remote->triplet,
                  static_cast<DAT_COMPLETION_FLAGS>(flags));
    });
    if (expect(rule, got, wanted)) {
      blame(request.sink, "dat.ep-post-rdma-read.success");
      if (closed) return settle(turn);
      continue;
    }
    if (closed) throw Finding{{remote->closed, "DAT_SUCCESS", "a refusal", true}};
    if (may_succeed)
      std::erase_if(endpoint.requests,
                    [&](const Request& one) { return one.cookie == request.cookie; });
    return model_.release(hold);
  }
}

}  // namespace suite::sessions::dat
