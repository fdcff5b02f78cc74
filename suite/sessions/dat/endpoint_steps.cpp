// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Endpoints as objects: made, queried, modified, counted, freed.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "suite/sessions/dat/player.hpp"

namespace suite::sessions::dat {

using dat_case::state_text;

namespace {

bool is_one_of(DAT_EP_STATE state, std::initializer_list<DAT_EP_STATE> states) {
  return std::ranges::find(states, state) != states.end();
}

/// While a connection ends, its state is known to its provider alone.
bool admits(const Endpoint& endpoint, DAT_EP_STATE state) {
  switch (endpoint.phase) {
    case Phase::unconnected:
      return state == DAT_EP_STATE_UNCONNECTED;
    case Phase::connected:
      return is_one_of(state, {DAT_EP_STATE_CONNECTED, DAT_EP_STATE_CONNECTED_SINGLE_PATH,
                               DAT_EP_STATE_CONNECTED_MULTI_PATH});
    case Phase::ending:
      if (is_one_of(state, {DAT_EP_STATE_DISCONNECT_PENDING, DAT_EP_STATE_DISCONNECTED}))
        return true;
      return !endpoint.ended_it &&
             is_one_of(state, {DAT_EP_STATE_CONNECTED, DAT_EP_STATE_CONNECTED_SINGLE_PATH,
                               DAT_EP_STATE_CONNECTED_MULTI_PATH});
    case Phase::disconnected:
      return state == DAT_EP_STATE_DISCONNECTED;
  }
  return false;
}

std::string text_of(Phase phase) {
  switch (phase) {
    case Phase::unconnected:
      return "DAT_EP_STATE_UNCONNECTED";
    case Phase::connected:
      return "DAT_EP_STATE_CONNECTED";
    case Phase::ending:
      return "the connection ends";
    case Phase::disconnected:
      return "DAT_EP_STATE_DISCONNECTED";
  }
  return "?";
}

}  // namespace

DAT_EP_PARAM Player::query_of(Turn& turn, DAT_EP_HANDLE endpoint) {
  DAT_EP_PARAM param{};
  expect("dat.ep-query.success",
         call(turn, [&] { return CALL(dat_ep_query, endpoint, DAT_EP_FIELD_ALL, &param); }),
         succeeds);
  return param;
}

// flags: the places of its dispatchers, for receives, requests and the connection, an octet each.
void Player::make_endpoint(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % endpoint_places, zone = step.other % zone_places;
  Endpoint& endpoint = model_.endpoints[at];
  Endpoint made{.zone = zone,
                .receives_to = (step.flags & 0xFFU) % dispatcher_places,
                .requests_to = (step.flags >> 8U & 0xFFU) % dispatcher_places,
                .connection_to = (step.flags >> 16U & 0xFFU) % dispatcher_places};
  const Dispatcher& receives = model_.dispatchers[made.receives_to];
  const Dispatcher& requests = model_.dispatchers[made.requests_to];
  const Dispatcher& connection = model_.dispatchers[made.connection_to];
  constexpr unsigned of_requests = DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG;
  if (turn.lane != 0 || endpoint.handle != DAT_HANDLE_NULL ||
      model_.zones[zone].handle == DAT_HANDLE_NULL || receives.handle == DAT_HANDLE_NULL ||
      requests.handle == DAT_HANDLE_NULL || connection.handle == DAT_HANDLE_NULL ||
      (receives.flags & DAT_EVD_DTO_FLAG) == 0 || (requests.flags & of_requests) != of_requests ||
      (connection.flags & DAT_EVD_CONNECTION_FLAG) == 0)
    return;
  if (step.third > 0) made.queue = (step.third - 1) % queue_places;
  const SharedQueue* queue = made.queue ? &model_.queues[*made.queue] : nullptr;
  if (queue != nullptr && queue->handle == DAT_HANDLE_NULL) return;
  ++played_;
  for (const std::uint32_t fed : {made.receives_to, made.requests_to, made.connection_to})
    model_.is_fed(fed);
  const DAT_PZ_HANDLE pz = model_.zones[zone].handle;
  if (usual_.max_request_dtos == 0) {  // what the provider chooses itself
    DAT_EP_HANDLE first = DAT_HANDLE_NULL;
    const DAT_RETURN got = call(turn, [&] {
      return CALL(dat_ep_create, ia_->get(), pz, receives.handle, requests.handle,
                  connection.handle, nullptr, &first);
    });
    if (!expect("dat.ep-create.success", got, succeeds)) return;
    usual_ = query_of(turn, first).ep_attr;
    expect("dat.ep-free.success", call(turn, [&] { return CALL(dat_ep_free, first); }), succeeds);
  }
  DAT_EP_ATTR attributes = usual_;
  attributes.max_recv_dtos = attributes.max_request_dtos =
      std::max<DAT_COUNT>(1, static_cast<DAT_COUNT>(step.number));
  const DAT_RETURN got = call(turn, [&] {
    return queue == nullptr
               ? CALL(dat_ep_create, ia_->get(), pz, receives.handle, requests.handle,
                      connection.handle, &attributes, &made.handle)
               : CALL(dat_ep_create_with_srq, ia_->get(), pz, receives.handle, requests.handle,
                      connection.handle, queue->handle, &attributes, &made.handle);
  });
  const bool foreign = queue != nullptr && queue->zone != zone && !model_.able.other_queue_zone;
  const char* rule = queue == nullptr ? "dat.ep-create.success"
                     : foreign        ? "dat.ep-create-with-srq.invalid-parameter"
                                      : "dat.ep-create-with-srq.success";
  if (!expect(rule, got, foreign ? returns(DAT_INVALID_PARAMETER) : succeeds)) return;
  made.attributes = query_of(turn, made.handle).ep_attr;
  demand(made.attributes.max_request_dtos >= attributes.max_request_dtos &&
             (queue != nullptr || made.attributes.max_recv_dtos >= attributes.max_recv_dtos),
         rule, fmt::format("at least {} DTOs", attributes.max_request_dtos),
         fmt::format("{} receives, {} requests", made.attributes.max_recv_dtos,
                     made.attributes.max_request_dtos));
  endpoint = made;
}

void Player::free_endpoint(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % endpoint_places;
  Endpoint& endpoint = model_.endpoints[at];
  if (endpoint.handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  ++played_;
  const auto peer = endpoint.peer;
  if (peer && endpoint.phase == Phase::connected) {
    model_.disconnects(at, true);
    OwedConnectionEvent& owed = model_.endpoints[*peer].connection.back();
    owed.rule = "dat.ep-free.peer";  // which names no event
  }
  if (peer) Model::doubt_end(model_.endpoints[*peer]);
  const DAT_RETURN got = call(turn, [&] { return CALL(dat_ep_free, endpoint.handle); });
  if (!expect("dat.ep-free.success", got, succeeds)) return;
  if (peer) {
    model_.doubt_writes(*peer);
    model_.anything_may_fail(model_.endpoints[*peer], true, true);
    model_.endpoints[*peer].peer.reset();
  }
  model_.abandon(at);
  for (OwedAsync& owed : model_.async)
    if (owed.handle == endpoint.handle) owed.certain = false;
  is_freed(Object::endpoint, endpoint.handle);
  endpoint = {};
}

void Player::query_endpoint(const Step& step, Turn& turn) {
  const Endpoint& endpoint = model_.endpoints[step.object % endpoint_places];
  if (endpoint.handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  ++played_;
  const DAT_EP_PARAM param = query_of(turn, endpoint.handle);
  const auto same = [](const char* what, bool is) {
    demand(is, "dat.ep-query.success", what, "another value");
  };
  const auto dispatcher = [&](std::uint32_t place) { return model_.dispatchers[place].handle; };
  same("the IA", param.ia_handle == ia_->get());
  demand(admits(endpoint, param.ep_state), "dat.ep-query.success", text_of(endpoint.phase),
         state_text(param.ep_state));
  same("its zone", param.pz_handle == model_.zones[endpoint.zone].handle);
  same("the dispatcher of its receives", param.recv_evd_handle == dispatcher(endpoint.receives_to));
  same("the dispatcher of its requests",
       param.request_evd_handle == dispatcher(endpoint.requests_to));
  same("the dispatcher of its connection",
       param.connect_evd_handle == dispatcher(endpoint.connection_to));
  same("its shared queue",
       param.srq_handle ==
           (endpoint.queue ? model_.queues[*endpoint.queue].handle : DAT_HANDLE_NULL));
  same("max_request_dtos", param.ep_attr.max_request_dtos == endpoint.attributes.max_request_dtos);
  if (!endpoint.queue)
    same("max_recv_dtos", param.ep_attr.max_recv_dtos == endpoint.attributes.max_recv_dtos);
  same("max_recv_iov", param.ep_attr.max_recv_iov == endpoint.attributes.max_recv_iov);
  same("max_request_iov", param.ep_attr.max_request_iov == endpoint.attributes.max_request_iov);
}

// other: 0 the receives that it takes, 1 the requests, 2 its state, which cannot be modified, 3 the
// dispatcher of its connection.
void Player::modify_endpoint(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % endpoint_places;
  Endpoint& endpoint = model_.endpoints[at];
  if (endpoint.handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  DAT_EP_PARAM asked = query_of(turn, endpoint.handle);
  DAT_EP_PARAM_MASK field = DAT_EP_FIELD_EP_STATE;
  const auto depth = std::max<DAT_COUNT>(1, static_cast<DAT_COUNT>(step.number));
  const std::uint32_t dispatcher = static_cast<std::uint32_t>(depth) % dispatcher_places;
  switch (step.other % 4) {
    case 0:
      // A queue below what it holds is left open; and who has a shared one has none.
      if (endpoint.queue || static_cast<std::size_t>(depth) < endpoint.receives.size()) return;
      field = DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS;
      asked.ep_attr.max_recv_dtos = depth;
      break;
    case 1:
      if (!endpoint.requests.empty()) return;
      field = DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS;
      asked.ep_attr.max_request_dtos = depth;
      break;
    case 2:
      break;
    default:
      if ((model_.dispatchers[dispatcher].flags & DAT_EVD_CONNECTION_FLAG) == 0 ||
          !endpoint.connection.empty())
        return;
      field = DAT_EP_FIELD_CONNECT_EVD_HANDLE;
      asked.connect_evd_handle = model_.dispatchers[dispatcher].handle;
  }
  ++played_;
  const bool fixed = field == DAT_EP_FIELD_EP_STATE, open = endpoint.phase == Phase::unconnected;
  Returns wanted = fixed  ? returns(DAT_INVALID_PARAMETER)
                   : open ? succeeds
                          : returns(DAT_INVALID_STATE);
  if (fixed && !open) wanted.types.push_back(DAT_INVALID_STATE);
  const DAT_RETURN got =
      call(turn, [&] { return CALL(dat_ep_modify, endpoint.handle, field, &asked); });
  const bool done = expect(fixed  ? "dat.ep-modify.fixed"
                           : open ? "dat.ep-modify.success"
                                  : "dat.ep-modify.invalid-state",
                           got, wanted);
  const DAT_EP_PARAM now = query_of(turn, endpoint.handle);
  const auto judge = [&](DAT_COUNT before, DAT_COUNT wish, DAT_COUNT is, DAT_EP_PARAM_MASK of) {
    const bool changed = done && field == of;
    demand(changed ? is >= wish : is == before, "dat.ep-modify.success",
           fmt::format("{}", changed ? wish : before), fmt::format("{}", is));
  };
  const DAT_EP_ATTR& before = endpoint.attributes;
  if (!endpoint.queue)
    judge(before.max_recv_dtos, depth, now.ep_attr.max_recv_dtos,
          DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS);
  judge(before.max_request_dtos, depth, now.ep_attr.max_request_dtos,
        DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS);
  if (done && field == DAT_EP_FIELD_CONNECT_EVD_HANDLE) {
    endpoint.connection_to = dispatcher;
    model_.is_fed(dispatcher);
  }
  demand(now.connect_evd_handle == model_.dispatchers[endpoint.connection_to].handle,
         "dat.ep-modify.success", "the dispatcher of its connection", "another handle");
  endpoint.attributes = now.ep_attr;
}

// One that the receives of a connected endpoint pass at once, or one that none will pass.
DAT_COUNT Player::hard_watermark(const Step& step, Turn& turn, const Endpoint& endpoint) {
  constexpr DAT_COUNT out_of_reach = 1 << 20;
  if (step.third % 3 == 2) return out_of_reach;
  if (step.third % 3 == 0 || endpoint.phase != Phase::connected) return DAT_WATERMARK_INFINITE;
  settle(turn);
  if (endpoint.phase != Phase::connected || endpoint.receives.empty())
    return DAT_WATERMARK_INFINITE;
  return static_cast<DAT_COUNT>(endpoint.receives.size()) - 1;
}

// "A connection broken event will be generated"; which event the peer gets is left open. The mark goes
// before the next connection.
void Player::passes_hard_watermark(Turn& turn, std::uint32_t at) {
  Endpoint& endpoint = model_.endpoints[at];
  Endpoint& peer = model_.endpoints[*endpoint.peer];
  model_.breaks(at);
  endpoint.connection.back() = {.numbers = {DAT_CONNECTION_EVENT_BROKEN},
                                .tolerated = {},
                                .rule = "dat.ep-set-watermark.hard"};
  Model::doubt_end(peer);
  settle(turn);
  endpoint.soft_watermark = DAT_WATERMARK_INFINITE;
  expect("dat.ep-set-watermark.success",
         call(turn,
              [&] {
                return CALL(dat_ep_set_watermark, endpoint.handle, DAT_WATERMARK_INFINITE,
                            DAT_WATERMARK_INFINITE);
              }),
         succeeds);
}

void Player::set_watermark(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % endpoint_places;
  Endpoint& endpoint = model_.endpoints[at];
  // With a shared queue the receives of an endpoint are those that messages have taken: nobody knows.
  if (endpoint.handle == DAT_HANDLE_NULL || turn.lane != 0 || endpoint.queue) return;
  drain_async(turn);
  ++played_;
  const auto mark = static_cast<DAT_COUNT>(step.number);
  const bool negative = mark < 0 && mark != DAT_WATERMARK_INFINITE;
  const DAT_COUNT hard = negative ? DAT_WATERMARK_INFINITE : hard_watermark(step, turn, endpoint);
  if (!negative) {
    endpoint.soft_watermark = mark;
    model_.check_watermark(endpoint);
  }
  const DAT_RETURN got =
      call(turn, [&] { return CALL(dat_ep_set_watermark, endpoint.handle, mark, hard); });
  const bool is_set =
      expect(negative ? "dat.ep-set-watermark.invalid-parameter" : "dat.ep-set-watermark.success",
             got, negative ? returns(DAT_INVALID_PARAMETER) : succeeds);
  if (negative) return;
  if (is_set) {
    if (hard != DAT_WATERMARK_INFINITE && hard < model_.receives_at_least(endpoint))
      passes_hard_watermark(turn, at);
    return;
  }
  // The provider has no watermarks.
  endpoint.soft_watermark = DAT_WATERMARK_INFINITE;
  std::erase_if(model_.async, [&](const OwedAsync& one) { return one.handle == endpoint.handle; });
}

void Player::count_receives(const Step& step, Turn& turn) {
  const Endpoint& endpoint = model_.endpoints[step.object % endpoint_places];
  if (endpoint.handle == DAT_HANDLE_NULL) return;
  ++played_;
  const DAT_COUNT least = std::max<DAT_COUNT>(0, model_.receives_at_least(endpoint)),
                  most = model_.receives_at_most(endpoint);
  DAT_COUNT held = 0, span = 0;
  const DAT_RETURN got =
      call(turn, [&] { return CALL(dat_ep_recv_query, endpoint.handle, &held, &span); });
  if (!expect("dat.ep-recv-query.success", got, succeeds)) return;
  if (held != DAT_VALUE_UNKNOWN)
    demand(held >= least && held <= most, "dat.ep-recv-query.success",
           fmt::format("{} to {} receives", least, most), fmt::format("{}", held));
  if (held != DAT_VALUE_UNKNOWN && span != DAT_VALUE_UNKNOWN)
    demand(span >= held, "dat.ep-recv-query.success", fmt::format("a span of {} or more", held),
           fmt::format("{}", span));
}

void Player::get_status(const Step& step, Turn& turn) {
  const Endpoint& endpoint = model_.endpoints[step.object % endpoint_places];
  if (endpoint.handle == DAT_HANDLE_NULL) return;
  ++played_;
  DAT_EP_STATE state{};
  DAT_BOOLEAN receives_idle{}, requests_idle{};
  const DAT_RETURN got = call(turn, [&] {
    return CALL(dat_ep_get_status, endpoint.handle, &state, &receives_idle, &requests_idle);
  });
  if (!expect("dat.ep-get-status.success", got, succeeds)) return;
  demand(admits(endpoint, state), "dat.ep-get-status.success", text_of(endpoint.phase),
         state_text(state));
  if (!endpoint.queue && model_.receives_at_least(endpoint) > 0)
    demand(receives_idle == DAT_FALSE, "dat.ep-get-status.success", "receives outstanding", "idle");
  if (model_.receives_at_most(endpoint) == 0)
    demand(receives_idle != DAT_FALSE, "dat.ep-get-status.success", "receives idle",
           "receives outstanding");
  if (endpoint.requests.empty())
    demand(requests_idle != DAT_FALSE, "dat.ep-get-status.success", "requests idle",
           "requests outstanding");
}

}  // namespace suite::sessions::dat
