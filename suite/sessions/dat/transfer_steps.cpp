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
  constexpr unsigned always = DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_BARRIER_FENCE_FLAG;
  // The pages of RDMA do not name the flag for solicited waits.
  const bool solicits = step.action == Action::send;
  return step.flags & (solicits ? always | DAT_COMPLETION_SOLICITED_WAIT_FLAG : always);
}

std::size_t octets_of(const Step& step) {
  return static_cast<std::size_t>(std::max<std::int64_t>(step.number, 0));
}

bool is_closed(Wrong wrong) { return wrong == Wrong::former || wrong >= Wrong::peer_before_start; }

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
    auto segments =
        segments_for(step, endpoint.zone, octets_of(step),
                     static_cast<std::size_t>(endpoint.attributes.max_recv_iov), true, hold);
    if (!segments) return;
    const auto spoilt = spoil(step, *segments, endpoint.zone, true, "ep-post-recv",
                              endpoint.attributes.max_recv_iov);
    if (step.wrong != Wrong::nothing && !spoilt) return model_.release(hold);
    ++played_;
    const DAT_COUNT most = endpoint.attributes.max_recv_dtos;
    const bool full = model_.receives_at_least(endpoint) >= most;
    const char* rule =
        full ? "dat.ep-post-recv.insufficient-resources" : "dat.ep-post-recv.success";
    Returns wanted =
        full ? returns(DAT_INSUFFICIENT_RESOURCES).or_tolerably(DAT_SUCCESS) : succeeds;
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

// ---------------------------------------------------------------- requests

/// A request that a step makes: what it names, what its call may return, what the model is told.
struct Player::Posting {
  Kind kind{};
  std::uint32_t at = 0;
  bool closed = false, too_long = false, too_short = false;
  std::size_t length = 0, room = 0;
  /// A Send finds a receive.
  bool arrives = false;
  Segments segments{};
  std::optional<Remote> remote{};
  std::optional<std::pair<const char*, Returns>> spoilt{};
  const char* rule = "";
  Returns wanted{};
  bool may_succeed = false;
  Request request{};
  /// Of memory of the peer that an RDMA Write changes.
  std::uint64_t target = 0;
};

namespace {

/// What is particular to a kind of request.
struct KindOfRequest {
  const char *call, *success, *invalid_state, *length;
  DAT_COUNT DAT_EP_ATTR::* segments;
  unsigned privilege;
};
KindOfRequest kind_of(Kind kind) {
  switch (kind) {
    case Kind::write:
      return {"ep-post-rdma-write",
              "dat.ep-post-rdma-write.success",
              "dat.ep-post-rdma-write.invalid-state",
              "dat.ep-post-rdma-write.length",
              &DAT_EP_ATTR::max_rdma_write_iov,
              DAT_MEM_PRIV_REMOTE_WRITE_FLAG};
    case Kind::read:
      return {"ep-post-rdma-read",
              "dat.ep-post-rdma-read.success",
              "dat.ep-post-rdma-read.invalid-state",
              "dat.ep-post-rdma-read.length",
              &DAT_EP_ATTR::max_rdma_read_iov,
              DAT_MEM_PRIV_REMOTE_READ_FLAG};
    default:
      return {"ep-post-send", "dat.ep-post-send.success",    "dat.ep-post-send.invalid-state",
              nullptr,        &DAT_EP_ATTR::max_request_iov, 0};
  }
}

bool is_in_state(const Endpoint& endpoint) {
  return endpoint.phase == Phase::connected || endpoint.phase == Phase::disconnected;
}

}  // namespace

// The room of the receive that the next message finds; nothing if it finds none.
std::optional<std::size_t> Player::room_at_peer(const Endpoint& endpoint) const {
  if (!endpoint.peer) return std::nullopt;
  const Endpoint& peer = model_.endpoints[*endpoint.peer];
  if (peer.phase != Phase::connected && peer.phase != Phase::ending) return std::nullopt;
  if (peer.strays) return std::nullopt;  // they come first
  if (!peer.queue) {
    if (peer.receives.size() <= peer.incoming.size()) return std::nullopt;
    return peer.receives[peer.incoming.size()].room;
  }
  const SharedQueue& queue = model_.queues[*peer.queue];
  // While the connection ends, it finds one that others may not have taken.
  const DAT_COUNT taken =
      queue.taken + (endpoint.phase == Phase::connected ? queue.maybe_taken : 0);
  if (static_cast<DAT_COUNT>(queue.receives.size()) <= taken) return std::nullopt;
  return std::ranges::min_element(queue.receives, {}, &Receive::room)->room;
}

// Nothing: the step lacks what it needs.
bool Player::choose_length(const Step& step, Turn& turn, Posting& posting) {
  const Endpoint& endpoint = model_.endpoints[posting.at];
  posting.length = octets_of(step);
  if (posting.kind != Kind::send) {
    // A sink may be longer than its source.
    const bool longer = posting.kind == Kind::read && posting.length > 0 && step.offset % 3 == 2;
    posting.room = posting.length + (longer ? 5 : 0);
    return posting.length > 0 || (!posting.closed && !posting.too_short);
  }
  const bool to_peer = endpoint.peer && (endpoint.phase == Phase::connected ||
                                         (endpoint.phase == Phase::ending && !endpoint.ended_it));
  if (to_peer && !make_room(turn, model_.endpoints[*endpoint.peer].receives_to, 1)) return false;
  const auto room = to_peer ? room_at_peer(endpoint) : std::nullopt;
  posting.arrives = room.has_value();
  // A message without a receive is another story, and so is one that any of several may take.
  if (endpoint.phase == Phase::connected && !room) return false;
  if (posting.too_long && model_.endpoints[*endpoint.peer].queue) return false;
  const std::size_t most = room.value_or(posting.length);
  posting.length = posting.too_long ? most + 1 : std::min(posting.length, most);
  posting.room = posting.length;
  return true;
}

bool Player::choose_memory(const Step& step, Posting& posting) {
  const Endpoint& endpoint = model_.endpoints[posting.at];
  const KindOfRequest kind = kind_of(posting.kind);
  const DAT_COUNT most = endpoint.attributes.*kind.segments;
  posting.request.hold = model_.next_hold();
  auto segments = segments_for(step, endpoint.zone, posting.room, static_cast<std::size_t>(most),
                               posting.kind == Kind::read, posting.request.hold);
  if (!segments) return false;
  posting.segments = std::move(*segments);
  if (posting.kind != Kind::send) {
    const std::size_t asked =
        posting.too_short && posting.kind == Kind::read ? posting.room + 1 : posting.length;
    posting.remote = posting.closed ? closed_remote(step, endpoint, posting.length, kind.privilege)
                                    : remote_for(step, endpoint, asked, kind.privilege);
  }
  posting.spoilt =
      spoil(step, posting.segments, endpoint.zone, posting.kind == Kind::read, kind.call, most);
  if (posting.too_short) posting.spoilt = std::pair{kind.length, returns(DAT_LENGTH_ERROR)};
  const bool is_as_asked = step.wrong == Wrong::nothing || posting.closed || posting.too_long ||
                           posting.spoilt.has_value();
  if (is_as_asked && (posting.kind == Kind::send || posting.remote)) {
    if (posting.too_short && posting.kind == Kind::write) --posting.remote->triplet.segment_length;
    return true;
  }
  model_.release(posting.request.hold);
  return false;
}

void Player::choose_returns(Posting& posting) {
  const Endpoint& endpoint = model_.endpoints[posting.at];
  const KindOfRequest kind = kind_of(posting.kind);
  posting.wanted = of_a_request(endpoint);
  posting.rule = endpoint.phase == Phase::unconnected ? kind.invalid_state : kind.success;
  if (posting.spoilt)
    add_wrong(posting.wanted, posting.rule, *posting.spoilt, is_in_state(endpoint));
  if (posting.closed) {
    posting.rule = posting.remote->closed;
    posting.wanted = posting.wanted.or_tolerably(DAT_PROTECTION_VIOLATION)
                         .or_tolerably(DAT_PRIVILEGES_VIOLATION);
  }
  posting.may_succeed = admits_success(posting.wanted);
}

std::optional<Player::Posting> Player::prepare(const Step& step, Turn& turn, Kind kind) {
  const std::uint32_t at = step.object % endpoint_places;
  const Endpoint& endpoint = model_.endpoints[at];
  Posting posting{.kind = kind, .at = at};
  posting.closed = is_closed(step.wrong);
  posting.too_long = step.wrong == Wrong::too_long && kind == Kind::send;
  posting.too_short = step.wrong == Wrong::too_short && kind != Kind::send;
  if (posting.closed || posting.too_long) {
    // It ends the connection: before that, all else has come.
    if (turn.lane != 0 || endpoint.phase != Phase::connected || kind == Kind::bind)
      return std::nullopt;
    if (posting.closed && kind == Kind::send) return std::nullopt;
    settle(turn);
    if (endpoint.phase != Phase::connected) return std::nullopt;
  }
  if (endpoint.handle == DAT_HANDLE_NULL || !make_room(turn, endpoint.requests_to, 1) ||
      !choose_length(step, turn, posting) || !choose_memory(step, posting))
    return std::nullopt;
  choose_returns(posting);
  Request& request = posting.request;
  request.cookie = model_.next_cookie();
  request.kind = kind;
  request.statuses = of_a_request_posted(endpoint);
  request.length = posting.length;
  request.suppressed =
      (flags_of(step) & DAT_COMPLETION_SUPPRESS_FLAG) != 0 && !posting.closed && !posting.too_long;
  ++played_;
  return posting;
}

// The model knows of it before the call: its events may come before the call returns.
void Player::announce(Posting& posting) {
  Endpoint& endpoint = model_.endpoints[posting.at];
  Request& request = posting.request;
  const bool is_connected = endpoint.phase == Phase::connected;
  const bool transfers = request.statuses.has(DAT_DTO_SUCCESS) && !posting.closed;
  if (posting.closed || posting.too_long) {
    model_.breaks(posting.at);
    request.statuses = posting.kind == Kind::read ? any_failure : success | any_failure;  // D30
    if (posting.closed) request.rule = posting.remote->closed;
  }
  if (posting.kind == Kind::write && transfers && posting.length > 0) {
    posting.target = model_.next_hold();
    model_.places({.writer = posting.at,
                   .hold = posting.target,
                   .range = posting.remote->range,
                   .octets = model_.gather(posting.segments.ranges),
                   .certain = is_connected});
  }
  if (posting.kind == Kind::read && transfers && posting.length > 0) {
    request.sink = posting.segments.ranges;
    request.octets = model_.gather({posting.remote->range});
    model_.starts_to_change(request.hold);
    model_.hold({posting.remote->range}, request.hold, false);
  }
  endpoint.requests.push_back(request);
  if (endpoint.phase == Phase::ending && endpoint.peer && transfers) {
    // What comes while the peer ends may be more than it can take.
    Endpoint& peer = model_.endpoints[*endpoint.peer];
    Model::doubt_end(endpoint);
    model_.anything_may_fail(peer, true, true);
    model_.doubt_writes(*endpoint.peer);
    if (posting.kind == Kind::send && !posting.arrives) peer.strays = true;
  }
  if (!posting.arrives) return;
  Message message{.octets = model_.gather(posting.segments.ranges), .statuses = request.statuses};
  if (posting.too_long) {
    message.statuses = one(DAT_DTO_ERR_LOCAL_LENGTH);
    message.rule = "dat.ep-post-recv.too-small";
  }
  model_.arrives(*endpoint.peer, std::move(message));
}

DAT_RETURN Player::post(const Step& step, Turn& turn, Posting& posting) {
  const DAT_EP_HANDLE handle = model_.endpoints[posting.at].handle;
  auto& triplets = posting.segments.triplets;
  DAT_LMR_TRIPLET* const first = triplets.empty() ? nullptr : triplets.data();
  const DAT_COUNT count = count_of(step, triplets);
  const auto flags =
      static_cast<DAT_COMPLETION_FLAGS>(posting.closed || posting.too_long ? 0 : flags_of(step));
  const DAT_DTO_COOKIE id = cookie(posting.request.cookie);
  return call(turn, [&] {
    switch (posting.kind) {
      case Kind::write:
        return CALL(dat_ep_post_rdma_write, handle, count, first, id, &posting.remote->triplet,
                    flags);
      case Kind::read:
        return CALL(dat_ep_post_rdma_read, handle, count, first, id, &posting.remote->triplet,
                    flags);
      default:
        return CALL(dat_ep_post_send, handle, count, first, id, flags);
    }
  });
}

void Player::withdraw(Posting& posting) {
  Endpoint& endpoint = model_.endpoints[posting.at];
  if (posting.may_succeed) {
    std::erase_if(endpoint.requests,
                  [&](const Request& one) { return one.cookie == posting.request.cookie; });
    if (posting.arrives) model_.retract_message(*endpoint.peer);
    if (posting.target != 0) model_.retract_write(posting.target);
  }
  model_.release(posting.request.hold);
}

void Player::request(const Step& step, Turn& turn, Kind kind) {
  for (std::uint32_t i = 0; i < std::max(step.times, 1U); ++i) {
    auto posting = prepare(step, turn, kind);
    if (!posting) return;
    if (posting->may_succeed) announce(*posting);
    const DAT_RETURN got = post(step, turn, *posting);
    if (!expect(posting->rule, got, posting->wanted)) {
      // One that was to end the connection has not.
      if (posting->closed || posting->too_long)
        throw Finding{{posting->rule, "DAT_SUCCESS", "a refusal", true}};
      return withdraw(*posting);
    }
    if (posting->target != 0) blame({posting->remote->range}, "dat.ep-post-rdma-write.success");
    blame(posting->request.sink, "dat.ep-post-rdma-read.success");
    if (posting->closed || posting->too_long) settle(turn);
  }
}

void Player::send(const Step& step, Turn& turn) { request(step, turn, Kind::send); }
void Player::write(const Step& step, Turn& turn) { request(step, turn, Kind::write); }
void Player::read(const Step& step, Turn& turn) { request(step, turn, Kind::read); }

}  // namespace suite::sessions::dat
